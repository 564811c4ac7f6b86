"""`noughts join`: play or watch a game on a server, or list the open games."""

from __future__ import annotations

import json
import os
from argparse import Namespace

from noughts.bots.registry import parse_policy
from noughts.cli import options as shared
from noughts.cli.console import Console
from noughts.cli.input import LineSource
from noughts.cli.prompt import Prompt, Quit
from noughts.cli.remote import messages
from noughts.cli.remote.address import Address, BadAddress, parse_address
from noughts.cli.remote.background import Call, Failed, Inbox, PendingCall, Replied
from noughts.cli.remote.client import Client, GameNotFound, NotANoughtsServer, RequestRefused, Unreachable
from noughts.cli.remote.game import JoinedGame, RemoteGame
from noughts.cli.remote.messages import GameSnapshot, ListedGame
from noughts.cli.remote.seats import SavedSeat, SeatFiles
from noughts.cli.screen import Screen
from noughts.cli.signals import Poller
from noughts.core.board import Mark
from noughts.core.errors import SeatTaken
from noughts.core.player import clean_name
from noughts.service import random_id

MAX_TRIES = 3
"""How often a seat is requested; the same key gets the same seat."""


HELP = shared.CommandHelp(
    "Play or watch a game on a server, or list its games. You can leave a game and come back to it.",
    {
        "noughts join http://127.0.0.1:8000": "list the games of a server",
        "noughts join http://127.0.0.1:8000 --bot club --name ann": "play against a bot of the server",
    },
    shared.DATA_FOLDER,
)


def add_options(parser: shared.Parser) -> None:
    parser.add_argument(
        "address", metavar="URL", help="a game, an invitation to one, or a server for its list of games"
    )
    parser.add_argument("--name", metavar="NAME", help="your name (default: the server picks one)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--play", action="store_true", help="take a seat that is open to everybody")
    what.add_argument("--friend", action="store_true", help="start a game, and get an invitation to it")
    what.add_argument(
        "--bot", type=parse_policy, metavar="POLICY", help="start a game with a bot of the server"
    )
    what.add_argument("--json", action="store_true", help="print the server's list of games as JSON")
    shared.add_live(parser)
    shared.add_display(parser, "kata")


def run(options: Namespace, console: Console) -> None:
    address = parse_address(options.address)
    if address.game and (options.friend or options.bot is not None):
        option = "--friend" if options.friend else "--bot"
        raise BadAddress(f"{option} makes a new game: use it with {address.server}/")
    if address.game and options.json:
        raise BadAddress(f"--json prints the list of games: use it with {address.server}/")
    name = None if options.name is None else clean_name(options.name)
    with console.line_screen(options) as (screen, typed):
        joiner = Joiner(address, name, Prompt(screen, typed), console.poller)
        joined = joiner.join(options)
    if joined:
        with console.game_screen(options) as (screen, typed):
            joiner.play(joined, screen, typed)


class Joiner:
    """Finds, creates or joins the game that the address and the options mean."""

    def __init__(self, address: Address, name: str | None, prompt: Prompt, poller: Poller) -> None:
        self._address = address
        self._name = name
        self._prompt = prompt
        self._screen = prompt.screen
        self._poller = poller
        self._client = Client(address)
        self._inbox = Inbox()
        self._seats = SeatFiles(os.environ)

    def play(self, joined: JoinedGame, screen: Screen, typed: LineSource) -> None:
        game = RemoteGame(self._client, screen, typed, self._inbox, self._poller, self._seats)
        game.play(joined)

    def join(self, options: Namespace) -> JoinedGame | None:
        """Return the game to play or watch; None after listing the games."""
        if self._address.game:
            return self._join_game(self._address, self._address.game, wants_seat=options.play)
        if options.bot is not None:
            return self._create({"opponent": "bot", "bot": options.bot})
        if options.friend:
            return self._create({"opponent": "friend"})
        answer = self._request("/games")
        open_games = messages.read_open_games(answer)
        if options.play:
            if open_games:  # the last one has waited longest
                return self._take_seat(self._address.at(open_games[-1].game))
            return self._create({"opponent": "lobby"})
        in_progress = messages.read_games_in_progress(answer)
        if options.json:
            lists = {"open": open_games, "playing": in_progress}
            found = {name: [self._to_dict(game) for game in games] for name, games in lists.items()}
            self._screen.say(json.dumps(found))
        else:
            self._list(open_games, in_progress)
        return None

    def _join_game(self, address: Address, game: str, *, wants_seat: bool) -> JoinedGame:
        """Take the seat that we have, were invited to, or that is free; or watch."""
        saved = self._seats.find(address)
        secret = saved.secret if saved else None
        try:
            snapshot = messages.read_snapshot(self._request(f"/games/{game}", secret=secret))
        except RequestRefused as error:
            if error.code != "notFound":
                raise
            raise GameNotFound(f"no such game at {address.server}") from None
        if secret and snapshot.our_marks:
            return JoinedGame(address.at(game), snapshot, snapshot.our_marks[0], secret)
        if address.invite:
            return self._take_seat(address)
        if _has_open_seat(snapshot):
            if wants_seat or (self._screen.interactive and self._confirm_seat(snapshot)):
                return self._take_seat(address)
        elif wants_seat:
            raise SeatTaken("no seat is free in that game; leave out --play to watch it")
        return JoinedGame(address, snapshot)

    def _take_seat(self, address: Address) -> JoinedGame:
        """Take a seat; its key is saved first, so that it is not lost with the connection."""
        saved = self._seats.find(address)
        key = saved.key if saved and not saved.secret else random_id()
        self._seats.save(address, SavedSeat(key))
        body: dict[str, object] = {"invite": address.invite, "key": key}
        try:
            answer = self._request_seat(f"/games/{address.game}/join", body)
            seat = messages.read_granted_seat(answer)
        except RequestRefused as error:
            self._seats.remove(address)
            if error.code == "notFound":
                raise GameNotFound("that invitation is invalid or has been used") from None
            raise
        self._seats.save(address, SavedSeat(key, seat.secret))
        return JoinedGame(address.at(address.game or ""), seat.snapshot, seat.mark, seat.secret)

    def _create(self, body: dict[str, object]) -> JoinedGame:
        key = random_id()
        seat = messages.read_granted_seat(self._request_seat("/games", {**body, "key": key}))
        address = self._address.at(seat.game)
        self._seats.save(address, SavedSeat(key, seat.secret))
        return JoinedGame(address, seat.snapshot, seat.mark, seat.secret, seat.invite)

    def _list(self, open_games: list[ListedGame], in_progress: list[ListedGame]) -> None:
        say = self._screen.wording.say
        for title, games in (
            ("remote.open_games", open_games),
            ("remote.games_in_progress", in_progress),
        ):
            if games:
                self._screen.say(say(title))
            for game in games:
                players = self._players(game)
                self._screen.say(
                    say("remote.listed", address=self._address.at(game.game), players=players)
                )
        if not open_games:
            self._screen.say(say("remote.no_open_games"))
        effect = "remote.play_joins" if open_games else "remote.play_opens"
        self._screen.say(say(effect, address=self._address))

    def _players(self, game: ListedGame) -> str:
        say = self._screen.wording.say
        found = [say("position.player", name=name, mark=mark) for mark, name in game.names.items()]
        return say("review.players", x=found[0], o=found[1]) if len(found) == 2 else "".join(found)

    def _to_dict(self, game: ListedGame) -> dict[str, object]:
        players = {str(mark): game.names.get(mark) for mark in Mark}
        return {"id": game.game, "address": str(self._address.at(game.game)), "players": players}

    def _request(
        self, path: str, body: dict[str, object] | None = None, secret: str | None = None
    ) -> dict[str, object]:
        """Send a request once, in the background, so that Ctrl-C works at once; wait for the answer."""
        self._screen.flush()
        pending = PendingCall(self._client, Call("", path, body, secret), self._inbox, once=True)
        while True:
            self._poller.wait([self._inbox.readable])
            for sender, update in self._inbox.take():
                if sender is pending and isinstance(update, Replied):
                    return update.answer
                if sender is pending and isinstance(update, Failed):
                    raise update.error

    def _request_seat(self, path: str, body: dict[str, object]) -> dict[str, object]:
        """Request a seat, again if the connection fails; the key in the body makes it count once."""
        name = {} if self._name is None else {"name": self._name}
        body = {**body, **name, "secret": True}
        for tries in range(1, MAX_TRIES):
            try:
                return self._request(path, body)
            except NotANoughtsServer:
                raise
            except Unreachable as error:
                if error.retry_after_seconds:
                    raise
                self._poller.sleep(0.2 * tries)
        return self._request(path, body)

    def _confirm_seat(self, snapshot: GameSnapshot) -> bool:
        """Show the game, and ask whether the player wants the free seat."""
        self._screen.show(snapshot.game)
        try:
            return self._prompt.confirm(self._screen.wording.say("remote.take_seat"))
        except Quit:
            return False


def _has_open_seat(snapshot: GameSnapshot) -> bool:
    is_free = any(not snapshot.room.seats[mark].is_taken for mark in Mark)
    return snapshot.room.is_open and is_free and not snapshot.game.is_over
