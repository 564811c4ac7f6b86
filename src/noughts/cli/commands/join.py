"""A game of a server, joined from the terminal: by an invitation, from the lobby, or to watch."""

from __future__ import annotations

import os
from argparse import Namespace

from noughts.cli.input import Typed
from noughts.cli.keyboard import UnreadableLine
from noughts.cli.remote.address import Address, BadAddress, parse_address
from noughts.cli.remote.background import Answered, Errand, Failed, Inbox, Order
from noughts.cli.remote.client import NotAServer, Refused, Server, Unreachable
from noughts.cli.remote.game import NO, YES, YES_OR_NO, FarTable, Place
from noughts.cli.remote.messages import Listed, Standing, games_played, open_games, seated, standing
from noughts.cli.remote.seats import Seat, Seats
from noughts.cli.screen import Screen
from noughts.cli.signals import Waiting
from noughts.core.board import Mark
from noughts.core.errors import SeatTaken
from noughts.core.player import clean_name
from noughts.service import random_id
from noughts.store.errors import NoSuchGame

TRIES = 3
"""How often a seat is asked for; the same key gets the same seat."""
TAKE = "Take the free seat? (y/n)"


def join(options: Namespace, screen: Screen, keyboard: int | None, waiting: Waiting) -> None:
    """Do what the address and the options say: play, watch, or list what there is."""
    address = parse_address(options.address)
    if address.game and (options.friend or options.bot is not None):
        asked = "--friend" if options.friend else "--bot"
        raise BadAddress(f"{asked} makes a new game: say {address.server}/, without one")
    name = None if options.name is None else clean_name(options.name)
    visit = Visit(address, name, screen, Typed(keyboard), waiting)
    if place := visit.find_place(options):
        visit.play(place)


class Visit:
    """Somebody who comes to a server."""

    def __init__(
        self, address: Address, name: str | None, screen: Screen, typed: Typed, waiting: Waiting
    ) -> None:
        self._address = address
        self._name = name
        self._screen = screen
        self._typed = typed
        self._waiting = waiting
        self._server = Server(address)
        self._inbox = Inbox()
        self._seats = Seats(os.environ)

    def play(self, place: Place) -> None:
        """Play, or watch."""
        FarTable(self._server, self._screen, self._typed, self._inbox, self._waiting, self._seats).play(
            place
        )

    def find_place(self, options: Namespace) -> Place | None:
        """Return a place at the game that is meant; None if only a list is."""
        if self._address.game:
            return self._at_game(self._address, self._address.game, takes_seat=options.play)
        if options.bot is not None:
            return self._create({"opponent": "bot", "bot": options.bot})
        if options.friend:
            return self._create({"opponent": "friend"})
        listed = self._ask("/games")
        waiting = open_games(listed)
        if options.play:
            if waiting:  # whoever has waited longest
                return self._take(self._address.at(waiting[-1].game))
            return self._create({"opponent": "lobby"})
        self._list(waiting, games_played(listed))
        return None

    def _at_game(self, address: Address, game: str, *, takes_seat: bool) -> Place:
        """Take the seat that we have, or are invited to, or that is free; or watch."""
        kept = self._seats.find(address)
        secret = kept.secret if kept else None
        try:
            now = standing(self._ask(f"/games/{game}", secret=secret))
        except Refused as error:
            if error.code != "notFound":
                raise
            raise NoSuchGame(f"there is no such game at {address.server}") from None
        if secret and now.ours:
            return Place(address.at(game), now, now.ours[0], secret)
        if address.invite:
            return self._take(address)
        if _has_open_seat(now):
            if takes_seat or (self._screen.interactive and self._agrees(now)):
                return self._take(address)
        elif takes_seat:
            raise SeatTaken("no seat is free there for everybody; without --play you can watch")
        return Place(address, now)

    def _take(self, address: Address) -> Place:
        """Take a seat; the key to ask with is kept first, so that no seat is lost with the line."""
        kept = self._seats.find(address)
        key = kept.key if kept and not kept.secret else random_id()
        self._seats.keep(address, Seat(key))
        body: dict[str, object] = {"invite": address.invite, "key": key}
        try:
            given = seated(self._ask_again(f"/games/{address.game}/join", self._signed(body)))
        except Refused as error:
            self._seats.forget(address)
            if error.code == "notFound":
                raise NoSuchGame("the invitation was used already, or it never was one") from None
            raise
        self._seats.keep(address, Seat(key, given.secret))
        return Place(address.at(address.game or ""), given.standing, given.mark, given.secret)

    def _create(self, body: dict[str, object]) -> Place:
        key = random_id()
        given = seated(self._ask_again("/games", self._signed({**body, "key": key})))
        address = self._address.at(given.game)
        self._seats.keep(address, Seat(key, given.secret))
        if given.invite:  # the one code that is meant to be passed on
            self._screen.say(f"To play with you, a friend opens {address}#{given.invite}")
        return Place(address, given.standing, given.mark, given.secret)

    def _signed(self, body: dict[str, object]) -> dict[str, object]:
        named = {} if self._name is None else {"name": self._name}
        return {**body, **named, "secret": True}

    def _list(self, waiting: list[Listed], played: list[Listed]) -> None:
        for title, games in (("Waiting for somebody:", waiting), ("Played now:", played)):
            if games:
                self._screen.say(title)
            for one in games:
                who = " against ".join(f"{name} ({mark})" for mark, name in one.names.items())
                self._screen.say(f"  {self._address.at(one.game)}  {who}")
        if not waiting:
            self._screen.say("Nobody waits for somebody to play.")
        play = "takes the seat of whoever has waited longest" if waiting else "waits for somebody"
        self._screen.say(f"noughts join {self._address} --play {play}.")

    # Asking: the server in the background, so that Ctrl-C counts at once; and the player

    def _ask(
        self, path: str, body: dict[str, object] | None = None, secret: str | None = None
    ) -> dict[str, object]:
        """Ask the server once, and wait for the answer."""
        self._screen.flush()
        errand = Errand(self._server, Order("", path, body, secret), self._inbox, once=True)
        while True:
            self._waiting.wait([self._inbox.bell])
            for sender, news in self._inbox.take():
                if sender is errand and isinstance(news, Answered):
                    return news.answer
                if sender is errand and isinstance(news, Failed):
                    raise news.error

    def _ask_again(self, path: str, body: dict[str, object]) -> dict[str, object]:
        """Ask for what counts once, however often it is asked for."""
        for tries in range(1, TRIES):
            try:
                return self._ask(path, body)
            except NotAServer:
                raise
            except Unreachable as error:
                if error.rest:
                    raise
                self._waiting.sleep(0.2 * tries)
        return self._ask(path, body)

    def _agrees(self, now: Standing) -> bool:
        """Show the game, and ask whether the player wants to play it."""
        self._screen.show(now.game)
        while True:
            self._screen.ask(TAKE)
            while not self._typed and not self._typed.has_ended:
                if {*self._typed.sources} & {*self._waiting.wait(self._typed.sources)}:
                    self._typed.take_in()
            if not self._typed:
                self._screen.end_line()
                return False
            try:
                words = self._typed.next_line().strip().lower()
            except UnreadableLine:
                words = ""
            if words in (*YES, *NO):
                return words in YES
            self._screen.say(YES_OR_NO)


def _has_open_seat(now: Standing) -> bool:
    is_free = any(not now.room.chairs[mark].is_taken for mark in Mark)
    return now.room.is_open and is_free and not now.game.is_over
