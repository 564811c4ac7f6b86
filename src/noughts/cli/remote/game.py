"""A game on a server, played or watched in this terminal.

The server decides. Input is checked here first, so that most mistakes are answered at once; then it is
sent with the version that the player saw, and with a key that makes it count once. Only the stream moves
the game on: a command is complete when the stream has reached the version of its answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from noughts.cli import hints
from noughts.cli.exit import INTERRUPTED
from noughts.cli.input import LineSource, UnreadableLine
from noughts.cli.prompt import Prompt, Quit, sentence
from noughts.cli.question import (
    NO_WORDS,
    SEE_ACTIONS,
    WAIT_ACTIONS,
    YES_WORDS,
    Question,
    read_cell,
    read_words,
)
from noughts.cli.remote import background, messages
from noughts.cli.remote.address import Address
from noughts.cli.remote.background import Call, GameStream, Inbox, PendingCall, Sender, Update
from noughts.cli.remote.client import BadResponse, Client, RequestRefused
from noughts.cli.remote.messages import GameSnapshot
from noughts.cli.remote.seats import SavedSeat, SeatFiles
from noughts.cli.remote.view import GameView
from noughts.cli.screen import Screen
from noughts.cli.signals import Poller
from noughts.core.board import Mark
from noughts.core.errors import CommandRefused, IllegalMove, NoughtsError, UnreadableCell
from noughts.core.game import Game, TakeBack, decide
from noughts.core.value import Value
from noughts.files import FileUnavailable
from noughts.service import random_id
from noughts.text.describe import shown_name

_STALE_CODES = "staleVersion", "gameOver", "alreadyOver", "notYourTurn", "cellTaken", "nothingToTakeBack"
"""Refusals of commands that were allowed in the game the player saw."""
LATE_SECONDS = 3.0
"""If the stream is silent and behind an answer for this long, the game is read again.

A server notices within two seconds what another process has committed.
"""


class JoinedGame(Value):
    """A game, and our seat in it; watchers have neither a mark nor a secret."""

    address: Address
    snapshot: GameSnapshot
    mark: Mark | None = None
    secret: str | None = None
    invite: str | None = None
    """The only secret that is shown: it is meant for a friend."""


class RemoteGame:
    """Runs one game after another: connects the screen, the keyboard and the server."""

    def __init__(
        self,
        client: Client,
        screen: Screen,
        typed: LineSource,
        inbox: Inbox,
        poller: Poller,
        seats: SeatFiles,
    ) -> None:
        self._client = client
        self._screen = screen
        self._text = screen.wording.say
        self._prompt = Prompt(screen, typed)
        self._typed = typed
        self._inbox = inbox
        self._poller = poller
        self._seats = seats
        self._pending: PendingCall | None = None
        self._disconnected: set[Sender] = set()

    def play(self, joined: JoinedGame) -> None:
        """Play or watch, until somebody leaves."""
        self._enter(joined)
        try:
            with self._prompt:
                self._introduce()
                while True:
                    self._continue()
                    self._ask()
                    self._wait()
        except Quit:
            self._leave()
            self._screen.say(self._text("game.goodbye"))
        except KeyboardInterrupt:
            with suppress(OSError):  # the reader of our output may have gone
                self._leave()
            if not self._screen.interactive:
                raise
            self._screen.say(self._text("game.goodbye"))
            raise SystemExit(INTERRUPTED) from None
        finally:
            self._stream.close()

    def _enter(self, joined: JoinedGame) -> None:
        self._joined = joined
        self._mark = self._screen.you = joined.mark
        self._screen.ask_meanwhile(Question("", WAIT_ACTIONS if joined.mark else SEE_ACTIONS))
        self._view = GameView(self._prompt, joined.snapshot, joined.mark)
        self._must_reload = self._has_reloaded = False
        self._wants_rematch = False
        self._answered = 0
        """The version of the last answer, which the stream has to reach."""
        self._last_wait: tuple[str, Game] | None = None
        self._open_stream()

    def _open_stream(self) -> None:
        game, secret = self._joined.address.game or "", self._joined.secret
        self._stream = GameStream(self._client, game, self._view.version, secret, self._inbox)

    def _close_stream(self) -> None:
        self._stream.close()
        self._disconnected.discard(self._stream)

    def _introduce(self) -> None:
        if self._joined.invite:
            self._screen.say_page(self._invite())
        if self._mark is None:
            x, o = map(self._view.name, Mark)
            self._prompt.say(self._text("remote.watch", x=x, o=o))
        else:
            other = self._view.game.player(self._mark.other)
            if other:
                name = shown_name(other)
                self._prompt.say(self._text("remote.play_against", mark=self._mark, player=name))
            else:
                self._prompt.say(self._text("remote.play", mark=self._mark))
            self._prompt.say(self._text("remote.come_back", address=self._joined.address))
        self._view.show()
        for mark in Mark:
            self._view.show_absence(mark)

    def _enter_next(self, joined: JoinedGame) -> None:
        self._close_stream()
        self._remove_seat()
        self._enter(joined)
        first = self._view.name(self._view.game.board.first)
        self._screen.say(self._text("game.starts", player=first))
        self._view.show()

    def _invite(self) -> str:
        link = f"{self._joined.address}#{self._joined.invite}"
        return self._text("remote.invite", address=link)

    def _leave(self) -> None:
        self._prompt.end_question()
        self._screen = self._screen.close()
        if self._joined.invite and not self._view.game.is_ready:
            self._screen.say(self._invite())
        if self._mark is None:
            return
        if self._view.game.is_over and not self._wants_rematch:
            self._remove_seat()
        else:
            self._screen.say(self._text("remote.go_on", address=self._joined.address))

    def _remove_seat(self) -> None:
        if self._mark is not None:
            with suppress(FileUnavailable):  # nobody needs the file any more
                self._seats.remove(self._joined.address)

    # Input and updates

    @property
    def _is_busy(self) -> bool:
        """Whether a command is not complete."""
        return self._pending is not None or self._view.version < self._answered

    def _wait(self) -> None:
        """Handle the next update or line; a line from a pipe waits until the one before is complete."""
        keyboard = self._typed.sources
        accepts_lines = not self._is_busy or bool(self._disconnected) or self._screen.interactive
        has_line = accepts_lines and (bool(self._typed) or self._typed.has_ended)
        needs_stream = self._is_busy and not (self._pending or self._disconnected)
        seconds = 0 if has_line else LATE_SECONDS if needs_stream else None
        self._screen.flush()
        ready = self._poller.wait([self._inbox.readable, *keyboard], seconds)
        if needs_stream and not (ready or has_line):
            self._reload_once(BadResponse(background.NO_POSITION))
        if self._inbox.readable in ready:
            for sender, update in self._inbox.take():
                self._handle(sender, update)
        if {*keyboard} & {*ready}:
            self._typed.feed()
        elif has_line:
            self._handle_line()

    def _handle_line(self) -> None:
        if not self._typed:
            raise Quit
        question = self._prompt.take_answer()
        try:
            words = read_words(self._typed.next_line())
        except UnreadableLine as refusal:
            if question and self._view.game.is_over:
                self._prompt.say(self._text("prompt.yes_or_no"))
            else:
                self._prompt.refuse_error(refusal, self._view.game)
        else:
            self._execute(words)

    def _handle(self, sender: Sender, update: Update) -> None:
        if sender is not self._stream and sender is not self._pending:
            return  # from a game that we have left
        match update:
            case background.Disconnected():
                if not self._disconnected:
                    self._prompt.say(self._text("remote.disconnected"))
                self._disconnected.add(sender)
            case background.Reconnected():
                self._note_reconnected(sender)
            case background.GameChanged():
                self._has_reloaded = False
                self._view.update_game(update)
            case background.RoomChanged(room):
                self._view.update_room(room)
                if room.offer is None and room.next_game is None and not self._pending:
                    self._wants_rematch = False
            case background.Replied(answer) if isinstance(sender, PendingCall):
                self._note_reconnected(sender)
                self._handle_answer(sender.call.kind, answer)
            case background.Failed(error):
                self._note_reconnected(sender)
                self._handle_failure(sender, error)

    def _note_reconnected(self, sender: Sender) -> None:
        if sender in self._disconnected:
            self._disconnected.remove(sender)
            if not self._disconnected:
                self._prompt.say(self._text("remote.reconnected"))

    def _handle_answer(self, kind: str, answer: Mapping[str, object]) -> None:
        self._pending = None
        match kind:
            case "reload":
                self._close_stream()
                self._answered = 0
                self._view.reset(messages.read_snapshot(answer))
                self._open_stream()
            case "follow":
                address = self._joined.address.at(self._view.room.next_game or "")
                self._enter_next(JoinedGame(address, messages.read_snapshot(answer)))
            case "rematch" if "marks" in answer:  # it grants a seat in the next game
                seat = messages.read_granted_seat(answer)
                address = self._joined.address.at(seat.game)
                self._seats.save(address, SavedSeat(random_id(), seat.secret))
                self._enter_next(JoinedGame(address, seat.snapshot, seat.mark, seat.secret))
            case _:
                result = messages.read_result(answer)
                self._answered = result.version
                if kind == "undo" and result.offer and self._mark:
                    other = self._view.name(self._mark.other)
                    self._prompt.say(self._text("remote.asked", player=other))

    def _handle_failure(self, sender: Sender, error: NoughtsError) -> None:
        """Reload the game if it has moved on; raise anything that ends it."""
        code = error.code if isinstance(error, RequestRefused) else None
        if isinstance(sender, GameStream):
            if code != "staleVersion":
                raise error
            self._reload_once(error)  # a server restored from a backup is behind us
            return
        self._pending = None
        if code in (None, "notFound") or sender.call.kind in ("reload", "follow"):
            raise error
        self._wants_rematch = False
        is_stale = code in _STALE_CODES
        self._prompt.say(self._text("game.moved_on") if is_stale else sentence(str(error)))
        self._must_reload = True

    def _reload_once(self, error: NoughtsError) -> None:
        """Read the game again; raise the error if that was done, and the stream has still not gone on."""
        if self._has_reloaded:
            raise error
        self._has_reloaded = self._must_reload = True

    def _continue(self) -> None:
        """Reload the game, or go to the next one, if it is time for that."""
        if self._pending or self._disconnected:
            return
        if self._must_reload:
            self._must_reload = False
            self._send("reload", "", None)
            return
        next_game = self._view.room.next_game
        if not self._view.game.is_over or not next_game:
            return
        if self._mark is None:
            self._pending = PendingCall(self._client, Call("follow", f"/games/{next_game}"), self._inbox)
        elif self._wants_rematch:
            self._send_rematch()

    def _ask(self) -> None:
        """Ask the player, or say once whom the game waits for."""
        is_busy = self._is_busy or bool(self._disconnected)
        question = None if is_busy else self._view.question()
        if self._wants_rematch and self._view.game.is_over:
            question = None
        self._prompt.ask(question, below_board=not self._view.game.is_over)
        if question is not None:
            self._last_wait = None
        elif not is_busy and (waiting := self._view.waiting()):
            wait = waiting, self._view.game
            if wait != self._last_wait:
                self._last_wait = wait
                self._prompt.end_question()
                self._screen.say_status(waiting)

    # Commands

    def _execute(self, words: str) -> None:
        """Do what the player typed, or say why not."""
        game = self._view.game
        try:
            if words == "quit":
                raise Quit
            if hints.is_question(words) and (self._mark or words != "help"):
                is_on_turn = self._mark is game.board.turn
                hints.answer(self._prompt, game, words, is_on_turn=is_on_turn)
            elif self._mark is None:
                self._prompt.reply(self._screen.text("watching"), game)
            elif self._disconnected:
                self._prompt.reply(self._text("remote.disconnected"), game)
            elif self._is_busy:
                self._prompt.reply(self._text("remote.wait_for_server"), game)
            elif game.is_over:
                self._answer_again(words)
            else:
                self._command(words, self._mark)
        except (UnreadableCell, IllegalMove, CommandRefused) as refusal:
            self._prompt.refuse_error(refusal, game)

    def _command(self, words: str, mark: Mark) -> None:
        game = self._view.game
        seen: dict[str, object] = {"version": self._view.version, "mark": str(mark)}
        if self._view.has_to_answer and words in (*YES_WORDS, *NO_WORDS):
            self._view.room = self._view.room.replace(offer=None)
            self._send("answer", "/take-back/answer", {"accept": words in YES_WORDS})
        elif words == "resign":
            self._send("resign", "/resign", seen)
        elif words == "undo":
            decide(game, TakeBack(mark))
            self._send("undo", "/take-back", seen)
        else:
            cell = read_cell(words)
            if not game.is_ready:
                self._prompt.reply(self._text("remote.nobody"), game)
            elif game.board.cells[cell]:
                self._prompt.refuse_taken(game)
            elif game.active is not mark:
                other = self._view.name(mark.other)
                self._prompt.reply(self._text("remote.not_your_turn", player=other), game)
            else:
                self._send("move", "/moves", {"cell": cell, **seen})

    def _answer_again(self, words: str) -> None:
        if words in NO_WORDS:
            raise Quit
        if words in YES_WORDS and not self._wants_rematch:
            self._send_rematch()
        elif not self._wants_rematch:
            self._prompt.say(self._text("prompt.yes_or_no"))

    def _send_rematch(self) -> None:
        self._wants_rematch = True
        self._send("rematch", "/rematch", {"secret": True})

    def _send(self, kind: str, path: str, body: dict[str, object] | None) -> None:
        """Send a request about this game; its key stays the same when it is repeated."""
        keyed = None if body is None else {**body, "key": random_id()}
        call = Call(kind, f"/games/{self._joined.address.game}{path}", keyed, self._joined.secret)
        self._pending = PendingCall(self._client, call, self._inbox)
