"""Where games are saved, and the recorder of the game that is being played.

If the store fails, `LocalGame` says how to resume, and `cli/exit.py` ends the command.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence

from noughts.cli.layout import say
from noughts.cli.old_store import set_aside
from noughts.cli.opening import new_game, opening
from noughts.core.board import Board, Mark
from noughts.core.errors import CommandRefused, printable
from noughts.core.events import PlayerNotifyIllegalMove, facts
from noughts.core.game import Command, Game, decide, fold
from noughts.core.player import Player
from noughts.service import Answer, Service
from noughts.store.base import EventStore
from noughts.store.errors import OldStore, StaleVersion, StoreMissing, StoreUnavailable
from noughts.store.urls import data_folder, default_store, open_store, sqlite_path

MEMORY = "memory:"


def store_url(asked: str | None, environment: Mapping[str, str]) -> str:
    """Return the store that was asked for, or the one in the user's data folder.

    Only the user's data folder is created if it is missing: in any other place, it is a typing error.

    >>> store_url(None, {"HOME": "/home/bob"})
    'sqlite:/home/bob/.local/share/noughts/games.sqlite'
    """
    url = default_store(environment) if asked is None else asked
    is_named = asked is not None or environment.get("NOUGHTS_STORE")
    if is_named and (path := sqlite_path(url)):
        try:
            path.parent.stat()
        except FileNotFoundError:
            raise StoreUnavailable(
                f"the folder {path.parent} is missing: create it, or correct the path of the store"
            ) from None
        except OSError:
            pass  # the store itself says what is wrong
    return url


def open_saved(asked: str | None, *, create: bool = False) -> EventStore:
    """Open the store of saved games.

    An outdated store in the user's data folder is renamed first, and a new one is begun.
    """
    environment = os.environ
    url, checkpoint_file = store_url(asked, environment), environment.get("NOUGHTS_CHECKPOINT_FILE", "")
    is_default = asked is None and not environment.get("NOUGHTS_STORE")
    try:
        return open_store(url, create=create, checkpoint_file=checkpoint_file)
    except StoreMissing as error:
        where = "" if is_default else f": {error}"
        raise StoreMissing(f"no games are saved yet{where}") from None
    except OldStore:
        if not is_default:
            raise
    file = data_folder(environment) / "games.sqlite"
    if (moved := set_aside(file)) and sys.stderr:
        say(
            f"noughts: {printable(str(file))} was made by an older noughts: it is now {moved.name}, "
            "and a new one is started (to bring its games over, export them with the version that wrote "
            "them, then run noughts store import)",
            sys.stderr,
        )
    return open_store(url)


def look_up(id_prefix: str, asked: str | None) -> Answer:
    """Return the saved game whose id begins like that, and its events."""
    with open_saved(asked) as store:
        service = Service(store)
        return service.look(service.find(id_prefix))


def keeps_games(options: Namespace) -> bool:
    """Return whether games, and what is learned from them, can be found again later."""
    is_saved = not getattr(options, "no_save", False)
    return is_saved and (options.store or os.environ.get("NOUGHTS_STORE")) != MEMORY


class Recorder:
    """Decides and records the commands of one game; nothing is recorded before the first move."""

    def __init__(self, service: Service, *, lasts: bool) -> None:
        self._service = service
        self._lasts = lasts
        self._id = ""
        self._version = 0
        self._game = Game(Board())
        self._opening: list[Command] = []

    @property
    def short_id(self) -> str | None:
        """A short id to find the game by later; None if it is not kept."""
        return self._service.short(self._id) if self._lasts and self._version else None

    @property
    def full_id(self) -> str | None:
        """The full id, without querying a store that may not answer."""
        return self._id if self._lasts and self._version else None

    def begin(self, first: Mark, players: Sequence[Player]) -> Game:
        self._id, self._version = self._service.new_id(), 0
        self._opening = opening(first, players)
        self._game = new_game(first, players)
        return self._game

    def open(self, game: str) -> Answer:
        self._id = game
        return self._keep(self._service.look(game))

    def apply(self, command: Command) -> Answer:
        """Decide a command, and record its events; an illegal move is only answered.

        Raise `StaleVersion` if the game has moved on elsewhere, and the command does not count any more.
        """
        events = decide(self._game, command)
        if not (new := facts(events)):
            return Answer(events, self._version, self._game)
        if not self._version:  # together with the opening: no game is saved without its players
            started = self._service.start(self._id, [*self._opening, command])
            return self._keep(started.replace(events=events))
        try:
            version = self._service.append(self._id, new, version=self._version)
        except StaleVersion:
            return self._keep(self._apply_to_newer(command))
        return self._keep(Answer(events, version, fold(new, self._game)))

    def _apply_to_newer(self, command: Command) -> Answer:
        try:
            answer = self._service.handle(self._id, command, version=self._version)
        except CommandRefused as error:
            raise StaleVersion(str(error)) from error
        if isinstance(answer.events[0], PlayerNotifyIllegalMove):
            raise StaleVersion("the move is not legal any more")
        return answer

    def reload(self) -> Answer:
        """Return the game after it has moved on elsewhere, with the events since it was last seen."""
        seen = self._version
        found = self.open(self._id)
        return found.replace(events=found.events[seen:])

    def _keep(self, answer: Answer) -> Answer:
        self._game, self._version = answer.game, answer.version
        return answer
