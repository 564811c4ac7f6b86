"""Where games are saved, and the recorder of the game that is being played.

If the store fails, `LocalGame` says how to resume, and `cli/exit.py` ends the command.
"""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Mapping, Sequence

from noughts.cli.opening import new_game, opening
from noughts.core.board import Board, Mark
from noughts.core.errors import CommandRefused, TooLong
from noughts.core.events import facts
from noughts.core.game import Command, Game, decide
from noughts.core.player import Player
from noughts.service import Answer, Service
from noughts.store.base import Store, StoredGame
from noughts.store.errors import StaleVersion, StoreMissing, StoreUnavailable
from noughts.store.urls import SAVED, default_store, open_store, sqlite_path

MEMORY = "memory:"


def store_url(asked: str | None, environment: Mapping[str, str], file: str = SAVED) -> str:
    """Return the URL of the store that was asked for, or of the one in the user's data folder.

    Only the user's data folder is created if it is missing: in any other place, it is a typing error.

    >>> store_url(None, {"HOME": "/home/bob"})
    'sqlite:/home/bob/.local/share/noughts/saved.sqlite'
    """
    url = default_store(environment, file) if asked is None else asked
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


def open_saved(asked: str | None, *, create: bool = False) -> Store:
    """Open the store of saved games."""
    try:
        return open_store(store_url(asked, os.environ), create=create)
    except StoreMissing as error:
        is_default = asked is None and not os.environ.get("NOUGHTS_STORE")
        where = "" if is_default else f": {error}"
        raise StoreMissing(f"no games are saved yet{where}") from None


def look_up(id_prefix: str, asked: str | None) -> StoredGame:
    """Return the saved game whose id begins like that."""
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
        self._opening: list[Command] = []
        self._game = Game(Board())
        self._stored: StoredGame | None = None
        """The game as it was read or recorded last; None before the first move."""

    @property
    def short_id(self) -> str | None:
        """A short id to find the game by later; None if it is not kept."""
        return self.full_id and self._service.short(self._id)

    @property
    def full_id(self) -> str | None:
        """The full id, without querying a store that may not answer."""
        return self._id if self._lasts and self._stored else None

    def begin(self, first: Mark, players: Sequence[Player]) -> Game:
        self._id, self._stored = self._service.new_id(), None
        self._opening = opening(first, players)
        self._game = new_game(first, players)
        return self._game

    def open(self, stored: StoredGame) -> Game:
        self._id, self._stored, self._game = stored.id, stored, stored.game
        return stored.game

    def apply(self, command: Command) -> Answer:
        """Decide a command, and record its events; an illegal move is only answered.

        Raise `StaleVersion` if the game has moved on elsewhere, and the command does not count any more.
        """
        events = decide(self._game, command)
        before = self._stored
        if not facts(events):
            return Answer(events, before.version if before else 0, self._game)
        if before is None:  # together with the opening: no game is saved without its players
            after = self._service.start(self._id, [*self._opening, command])
            return Answer(events, after.version, self.open(after))
        try:
            answer, after = self._service.record(before, command, version=before.version)
        except TooLong:
            raise
        except CommandRefused as error:  # here it was legal
            raise StaleVersion(str(error)) from error
        if not facts(answer.events):
            raise StaleVersion("the move is not legal any more")
        self.open(after)
        return answer

    def reload(self) -> Answer:
        """Return the game after it has moved on elsewhere, with the events since it was last seen."""
        seen = self._stored.version if self._stored else 0
        found = self._service.look(self._id)
        return Answer(found.events[seen:], found.version, self.open(found))
