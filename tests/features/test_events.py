"""Steps of document 001, the events; its own lines run unchanged."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from noughts import (
    Cell,
    Command,
    CreateGame,
    Event,
    Game,
    JoinGame,
    Mark,
    PlaceToken,
    Resign,
    TakeBack,
    X,
    decide,
    decode,
    encode,
    errors,
    events,
    evolve,
    facts,
    fold,
    format_record,
    parse_moves,
    parse_record,
    replay,
)
from support.command import environment
from support.documents import Answer, Ran, created, every_answer, keys
from support.forked import noughts
from support.reference.tactics import LINES

scenarios("events.feature")


class WrittenEvent(NamedTuple):
    """An event as the document writes it: its name and its arguments."""

    name: str
    arguments: tuple[str, ...]

    @property
    def mark(self) -> Mark:
        """The player of the event."""
        return Mark(self.arguments[-1])

    @property
    def cell(self) -> Cell | None:
        """The cell of the event, if it has one."""
        return 3 * int(self.arguments[0]) + int(self.arguments[1]) if len(self.arguments) == 3 else None

    def is_in(self, answer: Iterable[Event]) -> bool:
        """Return whether there is such an event; without arguments, any of that name."""
        return any(self in _ways_to_write(event) for event in answer)


@dataclass
class Record:
    """A game by its events: those that were recorded, and the last answer."""

    history: tuple[Event, ...] = ()
    answer: tuple[Event, ...] = ()
    before: Game | None = None

    @property
    def game(self) -> Game:
        """The game after the events."""
        game = fold(self.history)
        assert game is not None
        return game

    def do(self, command: Command) -> None:
        """Apply a command, and keep what belongs to the record."""
        self.before = fold(self.history)
        self.answer = decide(self.before, command)
        self.history += facts(self.answer)


@pytest.fixture
def record() -> Record:
    """Return the record of a game that is not created yet."""
    return Record()


# The document's own lines


@given(parsers.re(r"\[(?P<line>.*)\]"), target_fixture="given_events")
def given_line(line: str) -> list[WrittenEvent]:
    return _parse_events(line)


@when(parsers.re(r"\[(?P<line>.*)\]"), target_fixture="answers")
def when_line(given_events: list[WrittenEvent], line: str) -> list[tuple[Event, ...]]:
    happened = _parse_events(line)
    match [event.name for event in happened]:
        case ["gameCreated"]:
            return [decide(None, CreateGame())]
        case ["playerPlacedToken"]:
            return [_answer_to_token(given_events, happened[0])]
        case ["gameCompleted"]:  # with `false`: all was given, and no win has completed the game
            answers = [answer.events for answer in every_answer()]
            given_all = [
                answer for answer in answers if all(event.is_in(answer) for event in given_events)
            ]
            return [answer for answer in given_all if not WrittenEvent("gameWon", ()).is_in(answer)]
        case _:  # one or the other: every answer with one of them, and each is in some answer
            answers = [answer.events for answer in every_answer() if answer.cell in range(9)]
            assert all(any(event.is_in(answer) for answer in answers) for event in happened)
            return [answer for answer in answers if any(event.is_in(answer) for event in happened)]


@then(parsers.re(r"\[(?P<line>.*)\]"))
def then_line(answers: list[tuple[Event, ...]], line: str) -> None:
    (expected,) = _parse_events(line)
    assert answers
    assert all(expected.is_in(answer) for answer in answers)
    if expected.name == "playerNotifyIllegalMove":
        assert [len(answer) for answer in answers] == [1], "nothing else happens"


# The language


@given(parsers.re(r"the game (?P<moves>\d+|-)"), target_fixture="record")
def the_game(moves: str) -> Record:
    return _played(moves)


@then("its record names these events")
def record_names(record: Record, docstring: str) -> None:
    assert [str(event) for event in record.history] == docstring.split("\n")
    written = [encode(event)["event"] for event in record.history]
    assert written == [event.name for event in _parse_events(docstring)]


@when("every move is tried in every position, the illegal ones too", target_fixture="everything")
def try_everything() -> tuple[Answer, ...]:
    return every_answer()


@then("these events occur and no others")
def occur_and_no_others(everything: tuple[Answer, ...], datatable: list[list[str]]) -> None:
    found = set(decide(None, CreateGame())).union(*(answer.events for answer in everything))
    assert {encode(event)["event"] for event in found} == {name for (name,) in datatable}


@when("its record is written down, read back and added up", target_fixture="read_back")
def read_back(record: Record) -> tuple[Event, ...]:
    return parse_record(format_record(record.history))


@then("the game is the same, and answers every next move alike")
def same_game(record: Record, read_back: tuple[Event, ...]) -> None:
    again = replay(read_back)
    assert again == fold(read_back) == record.game
    for mark in Mark:
        for cell in range(-1, 10):
            move = PlaceToken(mark, cell)
            assert decide(again, move) == decide(record.game, move)


@then("it does not matter where the adding up was broken off and resumed")
def broken_off(record: Record, read_back: tuple[Event, ...]) -> None:
    for at in range(len(read_back) + 1):
        assert fold(read_back[at:], fold(read_back[:at])) == record.game


@when(parsers.parse("event {number:d} of its record is left out"), target_fixture="written")
def left_out(record: Record, number: int) -> str:
    return format_record(record.history[: number - 1] + record.history[number:])


@then("the record is refused")
def record_refused(written: str) -> None:
    with pytest.raises(errors.ImpossibleHistory):
        parse_record(written)


# Commands


@when(parsers.re(r"a game is created for (?P<first>[XO]) to start"))
def create(record: Record, first: str) -> None:
    record.do(CreateGame(Mark(first)))


@when("a game is created with open seats")
def create_with_open_seats(record: Record) -> None:
    record.do(CreateGame(open_seats=True))


@when(parsers.parse("{name} joins as {mark}"))
def join(record: Record, name: str, mark: str) -> None:
    record.do(JoinGame(Mark(mark), name))


@when(parsers.parse("{mark} places a token on ({row:d},{column:d})"))
def place_token(record: Record, mark: str, row: int, column: int) -> None:
    record.do(PlaceToken(Mark(mark), 3 * row + column))


@when(parsers.parse("{mark} tries to place a token on cell {cell:d}"))
def try_token(record: Record, mark: str, cell: int) -> None:
    record.do(PlaceToken(Mark(mark), cell))


@when(parsers.parse("{mark} resigns"))
def resign(record: Record, mark: str) -> None:
    record.do(Resign(Mark(mark)))


@when(parsers.parse("{mark} takes back"))
def take_back(record: Record, mark: str) -> None:
    record.do(TakeBack(Mark(mark)))


@when(
    parsers.re(r'I run "noughts play ?(?P<seats>[^"]*)" and play (?P<moves>\d+) and the game is saved'),
    target_fixture="saved",
)
def play_and_save(seats: str, moves: str, tmp_path: Path) -> tuple[Event, ...]:
    store = f"sqlite:{tmp_path}/games.sqlite"
    noughts("play", *shlex.split(seats), "--store", store, typed=keys(moves, None), env=environment())
    exported = noughts("store", "export", "--store", store, env=environment()).stdout
    [line] = exported.splitlines()
    return tuple(decode(event) for entry in json.loads(line)["record"] for event in entry["events"])


@then(parsers.parse("its record begins with {beginning}"))
def record_begins(saved: tuple[Event, ...], beginning: str) -> None:
    written = [str(event) for event in saved]
    wanted = beginning.split()
    assert written[: len(wanted)] == wanted
    assert written[len(wanted)] == "playerPlacedToken(1,1,X)"
    assert replay(saved).is_ready


@pytest.fixture
def env_vars(tmp_path: Path) -> dict[str, str]:
    """Return an environment in which games are saved."""
    return environment(NOUGHTS_STORE=f"sqlite:{tmp_path}/games.sqlite")


@then("these events are among the lines it prints")
def events_among_lines(ran: Ran, docstring: str) -> None:
    assert _events_in(ran) == docstring.split("\n")


@then('"noughts events" prints the same of the saved game, without the illegal move')
def events_printed(ran: Ran, env_vars: dict[str, str]) -> None:
    game = noughts("games", env=env_vars).stdout.splitlines()[1].split()[0]
    printed = noughts("events", game, env=env_vars).stdout.splitlines()
    assert printed == [event for event in _events_in(ran) if "IllegalMove" not in event]


# What they lead to


@then("the events are")
def events_are(record: Record, docstring: str) -> None:
    assert [str(event) for event in record.answer] == docstring.split("\n")


@then(parsers.parse("the active player is {mark}"))
def active_is(record: Record, mark: str) -> None:
    assert record.game.active is Mark(mark)


@then("every line has both marks in it")
def every_line_is_blocked(record: Record) -> None:
    cells = record.game.board.cells
    assert all({*Mark} <= {cells[cell] for cell in line} for line in LINES)


@then("nobody is active")
def nobody_active(record: Record) -> None:
    assert record.game.active is None
    assert record.game.is_over


@then(parsers.re(r"the game is (?P<negation>not )?ready"))
def ready(record: Record, negation: str | None) -> None:
    assert record.game.is_ready is (negation is None)


@then(parsers.re(r"the game is as after (?P<moves>\d+|-)"))
def is_as_after(record: Record, moves: str) -> None:
    assert record.game == _played(moves).game


@then("gameCompleted(true) is always the last event of its answer")
def completed_is_last(everything: tuple[Answer, ...]) -> None:
    end = events.GameCompleted()
    ends = [answer.events for answer in everything if end in answer.events]
    assert ends
    assert all(answer.index(end) == len(answer) - 1 for answer in ends)


@then("playerActive never comes together with it")
def never_active_after_end(everything: tuple[Answer, ...]) -> None:
    kinds = [{type(event) for event in answer.events} for answer in everything]
    assert not any({events.PlayerActive, events.GameCompleted} <= found for found in kinds)
    over = [answer.events for answer in everything if answer.game.is_over]
    assert all(isinstance(event, events.PlayerNotifyIllegalMove) for (event,) in over)


@then("playerActive always names the player that did not move")
def active_is_other(everything: tuple[Answer, ...]) -> None:
    active = [
        (answer.mark, event.mark)
        for answer in everything
        for event in answer.events
        if isinstance(event, events.PlayerActive)
    ]
    assert active
    assert all(mover is not named for mover, named in active)


@then("the turn, the board and the record are as they were")
def as_they_were(record: Record) -> None:
    (refusal,) = record.answer
    assert facts(record.answer) == ()
    assert record.game == record.before
    assert evolve(record.before, refusal) == record.before


@then("it is left out of what is written, and a record with it in cannot be read")
def refusal_not_recorded(record: Record) -> None:
    assert parse_record(format_record(record.history)) == record.history
    assert parse_record(format_record(record.history + record.answer)) == record.history
    (refusal,) = record.answer
    written = format_record(record.history) + json.dumps(encode(refusal))
    with pytest.raises(errors.ImpossibleHistory, match="playerNotifyIllegalMove"):
        parse_record(written)


def _events_in(ran: Ran) -> list[str]:
    event = re.compile(r"(?:game|player)[A-Z]\w+\(.*\)")
    return [line for line in ran.stdout.splitlines() if event.fullmatch(line)]


def _parse_events(line: str) -> list[WrittenEvent]:
    """Parse events as the document writes them, such as `playerPlacedToken(0,0,X), gameDraw()`."""
    found = re.findall(r"(\w+)(?:\(([^)]*)\))?", line.replace("player ", ""))
    return [WrittenEvent(name, tuple(inside.split(",")) if inside else ()) for name, inside in found]


@cache
def _ways_to_write(event: Event) -> tuple[WrittenEvent, ...]:
    (written,) = _parse_events(str(event))
    return written, written._replace(arguments=())


def _played(moves: str) -> Record:
    record = Record()
    record.do(CreateGame())
    for cell in parse_moves(moves.strip("-")):
        assert record.game.active
        record.do(PlaceToken(record.game.active, cell))
    return record


def _answer_to_token(before: list[WrittenEvent], token: WrittenEvent) -> tuple[Event, ...]:
    """Place these tokens; return the answer to the last.

    If it is the other player's turn, a harmless token is placed first: on a cell that is not named,
    without ending the game.
    """
    game = created(X)
    answer: tuple[Event, ...] = ()
    named = {event.cell for event in (*before, token)}
    for event in (*before, token):
        if game.active is not event.mark:
            quiet = (cell for cell in game.board.free_cells if cell not in named)
            harmless = next(cell for cell in quiet if not game.board.place(cell).is_over)
            game = fold(decide(game, PlaceToken(event.mark.other, harmless)), game)
        cell = game.board.free_cells[0] if event.cell is None else event.cell
        answer = decide(game, PlaceToken(event.mark, cell))
        game = fold(answer, game)
    return answer
