"""A game on a server, played or watched at this terminal: its loop, and one game after another.

What the server tells is the game. What is typed is judged here first, so that most mistakes are answered
at once; then it is sent with the version that the player saw, and a key under which it counts once.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from noughts.cli.input import Typed
from noughts.cli.keyboard import UnreadableLine
from noughts.cli.local_game import SHORT_HELP
from noughts.cli.prompt import Talk, sentence
from noughts.cli.remote.address import Address
from noughts.cli.remote.background import (
    Answered,
    Around,
    Broken,
    Errand,
    Failed,
    Inbox,
    Mended,
    News,
    Order,
    Sender,
    Stream,
    Told,
)
from noughts.cli.remote.client import Refused, Server
from noughts.cli.remote.messages import Room, Standing, is_seated, moved, read_offer, seated, standing
from noughts.cli.remote.seats import Seat, Seats
from noughts.cli.remote.view import Seen
from noughts.cli.screen import Screen
from noughts.cli.signals import Waiting
from noughts.core.board import Mark
from noughts.core.errors import CommandRefused, IllegalMove, NoughtsError, UnreadableCell, printable
from noughts.core.events import PlayerNotifyIllegalMove
from noughts.core.game import Game, PlaceToken, TakeBack, decide
from noughts.core.notation import format_cell, parse_cell
from noughts.core.value import Value
from noughts.files import FileUnavailable
from noughts.service import random_id

HELP = """\
Type the number of a free cell, 1 to 9, row by row from the top left;
row,column (0,0 to 2,2) and a1 to c3 name the same cells.
hint    show a best move, and why it is one
why     explain the last token; why 5, what a token on 5 would do
undo    take back your last token and the answer to it; a person is asked first
resign  give the game up
help    show this
quit    leave; you can come back"""

WATCHING = "You watch: hint, why, help and quit are what you can say."

YES, NO = ("y", "yes"), ("n", "no")
AGAIN = "Play again? (y/n)"
YES_OR_NO = "Please answer y or n."
BROKEN, BACK = "The line is broken; reconnecting.", "Back."
ON_ITS_WAY = "Please wait: your last word is on its way."
ELSEWHERE = "Somebody has played on elsewhere."

_GONE_ON = {"staleVersion", "gameOver", "alreadyOver", "notYourTurn", "cellTaken", "nothingToTakeBack"}
"""What is refused only if the game is not any more what the player saw."""


class Place(Value):
    """Where somebody sits: a game, and the mark and the secret of a seat at it; none for who watches."""

    address: Address
    standing: Standing
    mark: Mark | None = None
    secret: str | None = None


class _Left(Exception):
    """The player left, by a word or at the end of input."""


class FarTable:
    """One screen, one keyboard, and a line to a server."""

    def __init__(
        self,
        server: Server,
        screen: Screen,
        typed: Typed,
        inbox: Inbox,
        waiting: Waiting,
        seats: Seats,
    ) -> None:
        self._server = server
        self._screen = screen
        self._talk = Talk(screen)
        self._typed = typed
        self._inbox = inbox
        self._waiting = waiting
        self._seats = seats
        self._errand: Errand | None = None
        """What was asked of the server last, until there is an answer."""
        self._has_heard_room = False
        """Whether the room was told since then: the answer may know less of it than we do."""
        self._broken: set[Sender] = set()

    def play(self, place: Place) -> None:
        """Play, or watch, until there is nothing more to do."""
        self._sit_down(place)
        try:
            self._introduce()
            while True:
                self._go_on()
                self._ask()
                self._listen()
        except _Left:
            self._part()
            self._talk.say("Goodbye!")
        except KeyboardInterrupt:
            with suppress(OSError):  # whoever was reading may have gone
                self._part()
            raise
        except NoughtsError:
            self._talk.end_question()
            raise
        finally:
            self._stream.close()

    def _sit_down(self, place: Place) -> None:
        self._place = place
        self._mark = place.mark
        self._seen = Seen(self._talk, place.standing, place.mark)
        self._has_to_look = self._has_looked = False
        self._wants_again = False
        self._waits_told: tuple[str, Game] | None = None
        self._open_stream()

    def _open_stream(self) -> None:
        game, secret = self._place.address.game or "", self._place.secret
        self._stream = Stream(self._server, game, self._seen.version, secret, self._inbox)

    def _close_stream(self) -> None:
        self._stream.close()
        self._broken.discard(self._stream)

    def _introduce(self) -> None:
        """Tell who plays, and how it stands."""
        if self._mark is None:
            who = " against ".join(self._seen.name(mark) for mark in Mark)
            self._talk.say(f"You watch {who}.")
        else:
            other = self._seen.game.player(self._mark.other)
            self._talk.say(
                f"You play {self._mark}{f' against {printable(other.name)}' if other else ''}."
            )
            self._talk.say(f"To come back: noughts join {self._place.address}")
        self._seen.begin()
        for mark in Mark:
            self._seen.note_absence(mark)

    def _move_on(self, place: Place) -> None:
        """Go to the next game, which is at an address of its own."""
        self._close_stream()
        self._forget_seat()
        self._sit_down(place)
        first = self._seen.name(self._seen.game.board.first)
        self._talk.say(self._screen.wording.starts.format(player=first))
        self._seen.begin()

    def _part(self) -> None:
        """Tell who leaves a game that is not over how to come back."""
        self._talk.end_question()
        if self._mark is None:
            return
        if self._seen.game.is_over and not self._wants_again:
            self._forget_seat()
        else:
            self._talk.say(f"To go on: noughts join {self._place.address}")

    def _forget_seat(self) -> None:
        if self._mark is not None:
            with suppress(FileUnavailable):  # it is of no use any more, wherever it is
                self._seats.forget(self._place.address)

    def _listen(self) -> None:
        """Wait for news or a line, and hear them.

        What is typed while a command is on its way waits for what becomes of that; but whoever sits
        before the screen is answered at once.
        """
        self._screen.flush()
        keyboard = self._typed.sources
        is_heard = not self._errand or bool(self._broken) or self._screen.interactive
        can_hear = is_heard and (bool(self._typed) or self._typed.has_ended)
        ready = self._waiting.wait([self._inbox.bell, *keyboard], 0 if can_hear else None)
        if self._inbox.bell in ready:
            for sender, news in self._inbox.take():
                self._hear(sender, news)
        if {*keyboard} & {*ready}:
            self._typed.take_in()
        elif can_hear:
            self._hear_line()

    def _hear_line(self) -> None:
        if not self._typed:
            raise _Left
        question = self._talk.take_answer()
        try:
            words = " ".join(self._typed.next_line().lower().split())
        except UnreadableLine as refusal:
            if question == AGAIN:
                self._talk.say(YES_OR_NO)
            else:
                self._talk.refuse(str(refusal), self._seen.game)
        else:
            self._obey(words)

    def _hear(self, sender: Sender, news: News) -> None:
        if sender is not self._stream and sender is not self._errand:
            return  # it is about a game that we have left
        match news:
            case Broken():
                if not self._broken:
                    self._talk.say(BROKEN)
                self._broken.add(sender)
            case Mended():
                self._mend(sender)
            case Told(version, event):
                self._seen.take(version, event)
            case Around(room, is_first):
                self._look_around(room, is_first=is_first)
            case Answered(answer):
                self._mend(sender)
                self._settle(answer)
            case Failed(error):
                self._mend(sender)
                self._fail(sender, error)

    def _mend(self, sender: Sender) -> None:
        if sender in self._broken:
            self._broken.remove(sender)
            if not self._broken:
                self._talk.say(BACK)

    def _look_around(self, room: Room, *, is_first: bool) -> None:
        self._has_looked = False
        self._has_heard_room = True
        self._seen.look_around(room, is_first=is_first)
        if room.offer is None and room.next is None and not self._errand:
            self._wants_again = False

    def _settle(self, answer: Mapping[str, object]) -> None:
        """Take up the answer to what was asked last."""
        match self._done().kind:
            case "look":
                self._close_stream()
                self._seen.look_again(standing(answer))
                self._open_stream()
            case "follow":
                address = self._place.address.at(self._seen.room.next or "")
                self._move_on(Place(address, standing(answer)))
            case "again" if is_seated(answer):
                given = seated(answer)
                address = self._place.address.at(given.game)
                self._seats.keep(address, Seat(random_id(), given.secret))
                self._move_on(Place(address, given.standing, given.mark, given.secret))
            case kind:
                self._take_up(kind, answer)

    def _take_up(self, kind: str, answer: Mapping[str, object]) -> None:
        """Go on with what a command has led to."""
        after, offer = moved(answer), read_offer(answer.get("offer"))
        first = after.version - len(after.events) + 1
        if first > self._seen.version + 1:  # something came between that we have not seen
            self._has_to_look = True
            return
        for version, event in enumerate(after.events, first):
            self._seen.take(version, event)
        if not self._has_heard_room:
            self._seen.room = self._seen.room.replace(offer=offer)
        if kind == "undo" and offer and self._mark:
            self._seen.note_asked_back()
            self._talk.say(f"{self._seen.name(self._mark.other)} is asked whether you may.")

    def _done(self) -> Order:
        errand, self._errand = self._errand, None
        if errand is None:
            raise AssertionError("an answer without a question")
        return errand.order

    def _fail(self, sender: Sender, error: NoughtsError) -> None:
        """Go on with the game as it is now, if that is all that was wrong."""
        if sender is self._stream:
            self._lose_stream(error)
            return
        order = self._done()
        is_lost = not isinstance(error, Refused) or error.code == "notFound"
        if is_lost or order.kind in ("look", "follow"):
            raise error
        self._wants_again = False
        has_gone_on = isinstance(error, Refused) and error.code in _GONE_ON
        self._talk.say(ELSEWHERE if has_gone_on else sentence(str(error)))
        self._has_to_look = True

    def _lose_stream(self, error: NoughtsError) -> None:
        """Look at a game that the server knows less of than we do; but it cannot know less each time."""
        is_behind = isinstance(error, Refused) and error.code == "staleVersion"
        if not is_behind or self._has_looked:
            raise error
        self._has_looked = self._has_to_look = True

    def _go_on(self) -> None:
        """Look again if need be; and go where the others have gone, if there is a next game."""
        if self._errand or self._broken:
            return
        if self._has_to_look:
            self._has_to_look = False
            self._send("look", "", None)
            return
        following = self._seen.room.next
        if not self._seen.game.is_over or not following:
            return
        if self._mark is None:
            self._errand = Errand(self._server, Order("follow", f"/games/{following}"), self._inbox)
        elif self._wants_again:
            self._ask_for_next()

    def _ask(self) -> None:
        """Ask what is to be asked now, or tell who it is that has to do something."""
        question = None if self._errand or self._broken else self._what_to_ask()
        self._talk.ask(question, below_board=not self._seen.game.is_over)
        if question is not None:
            self._waits_told = None
        elif not self._errand and not self._broken:
            self._tell_wait()

    def _what_to_ask(self) -> str | None:
        game, mark = self._seen.game, self._mark
        if mark is None:
            return None
        if game.is_over:
            return None if self._wants_again else AGAIN
        if self._seen.is_asked_back:
            return f"{self._seen.name(mark.other)} wants to take back. Agree? (y/n)"
        if not game.is_ready or game.active is not mark:
            return None
        question = "{mark} 1-9:" if self._screen.compact else self._screen.wording.ask
        return question.format(mark=mark, player=self._seen.name(mark))

    def _tell_wait(self) -> None:
        game, waits = self._seen.game, ""
        if not game.is_ready and not game.is_over:
            waits = "Waiting for somebody to take the other seat."
        elif self._mark and not self._seen.room.chairs[self._mark.other].is_bot:
            whom = self._seen.name(self._mark.other)
            waits = f"Waiting for {whom}{' to agree' if game.is_over else ''}."
        told = waits, game
        if waits and told != self._waits_told:
            self._waits_told = told
            self._talk.say(waits)

    def _obey(self, words: str) -> None:
        """Do what the player says, or say why not."""
        game = self._seen.game
        try:
            if words == "quit":
                raise _Left
            if words == "help":
                self._talk.reply(self._help, game)
            elif words == "hint" or words.split()[:1] == ["why"]:
                self._talk.reply(self._coached(words), game)
            elif self._mark is None:
                self._talk.reply(WATCHING, game)
            elif self._broken or self._errand:
                self._talk.reply(BROKEN if self._broken else ON_ITS_WAY, game)
            elif game.is_over:
                self._answer_again(words)
            else:
                self._command(words, self._mark)
        except UnreadableCell as refusal:
            self._talk.refuse(f"{refusal}, or help", game)
        except IllegalMove:
            self._refuse_taken()
        except CommandRefused as refusal:
            self._talk.reply(sentence(str(refusal)), game)

    def _command(self, words: str, mark: Mark) -> None:
        game = self._seen.game
        seen: dict[str, object] = {"version": self._seen.version, "mark": str(mark)}
        if self._seen.is_asked_back and words in (*YES, *NO):
            self._send("answer", "/take-back/answer", {"accept": words in YES})
        elif words == "resign":
            self._send("resign", "/resign", seen)
        elif words == "undo":
            decide(game, TakeBack(mark))
            self._send("undo", "/take-back", seen)
        else:
            cell = parse_cell(words)
            if not game.is_ready:
                self._talk.reply("The other seat is free still.", game)
            elif game.active is not mark:
                other = self._seen.name(mark.other)
                self._talk.reply(f"It is not your turn: {other} is to move.", game)
            elif isinstance(decide(game, PlaceToken(mark, cell))[0], PlayerNotifyIllegalMove):
                self._refuse_taken()
            else:
                self._send("move", "/moves", {"cell": cell, **seen})

    def _answer_again(self, words: str) -> None:
        if words in NO:
            raise _Left
        if self._wants_again:
            return
        if words in YES:
            self._ask_for_next()
        else:
            self._talk.say(YES_OR_NO)

    def _ask_for_next(self) -> None:
        self._wants_again = True
        self._send("again", "/rematch", {"secret": True})

    def _send(self, kind: str, path: str, body: dict[str, object] | None) -> None:
        """Ask the server for something at this game; if the line breaks, again with the same key."""
        keyed = None if body is None else {**body, "key": random_id()}
        order = Order(kind, f"/games/{self._place.address.game}{path}", keyed, self._place.secret)
        self._has_heard_room = False
        self._errand = Errand(self._server, order, self._inbox)

    @property
    def _help(self) -> str:
        if self._mark is None:
            return WATCHING
        return SHORT_HELP if self._screen.compact else HELP

    def _coached(self, words: str) -> str:
        from noughts.cli.hints import explain, hint  # noqa: PLC0415 - only who asks for it loads it

        game, asked = self._seen.game, words.removeprefix("why").strip()
        if game.is_over and (words == "hint" or asked):
            return "The game is over."
        if words == "hint":
            return hint(game.board, short=self._screen.compact)
        return explain(game, asked, short=self._screen.compact)

    def _refuse_taken(self) -> None:
        game = self._seen.game
        free = ", ".join(map(format_cell, game.board.free_cells))
        self._talk.refuse(f"that cell is taken: the free cells are {free}", game)
