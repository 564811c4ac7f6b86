"""Events as plain data and as JSON lines, and back."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, strategies as st

from noughts import (
    CreateGame,
    Event,
    JoinGame,
    Mark,
    O,
    PlaceToken,
    Resign,
    X,
    decide,
    decode,
    encode,
    errors,
    events,
    fold,
    format_record,
    parse_record,
    replay,
)
from noughts.core.codec import dumps, loads
from noughts.core.errors import IllegalMoveReason
from support.strategies import any_event, histories, json_values

START = decide(None, CreateGame())

WRITTEN = {
    events.GameCreated(O): {"event": "gameCreated", "first": "O"},
    events.GameReady(): {"event": "gameReady"},
    events.PlayerActive(X): {"event": "playerActive", "mark": "X"},
    events.PlayerPlacedToken(0, 2, X): {"event": "playerPlacedToken", "row": 0, "column": 2, "mark": "X"},
    events.GamePlacedCount(9): {"event": "gamePlacedCount", "count": 9},
    events.PlayerNotifyIllegalMove(O, IllegalMoveReason.CELL_TAKEN): {
        "event": "playerNotifyIllegalMove",
        "mark": "O",
        "reason": "cellTaken",
    },
    events.GameWon(X): {"event": "gameWon", "mark": "X"},
    events.GameLost(O): {"event": "gameLost", "mark": "O"},
    events.GameDraw(): {"event": "gameDraw"},
    events.GameCompleted(): {"event": "gameCompleted", "completed": True},
    events.PlayerJoined(X, "Zoë"): {"event": "playerJoined", "mark": "X", "name": "Zoë"},
    events.PlayerResigned(O): {"event": "playerResigned", "mark": "O"},
    events.PlayerTookBack(X): {"event": "playerTookBack", "mark": "X"},
}


@pytest.mark.parametrize(("event", "written"), WRITTEN.items(), ids=[event.kind() for event in WRITTEN])
def test_an_event_is_written_in_the_names_of_the_documents(
    event: Event, written: dict[str, object]
) -> None:
    assert encode(event) == {"schema": 1, **written}
    assert list(encode(event))[:2] == ["schema", "event"]
    assert decode({"schema": 1, **written}) == event


@pytest.mark.parametrize("thing", [5, None, "gameWon", Mark.X])
def test_only_an_event_can_be_written(thing: object) -> None:
    with pytest.raises(errors.InvalidArgument, match=f"^{thing!r} is not an event$"):
        encode(thing)  # type: ignore[arg-type]  # that is the point


@pytest.mark.parametrize("thing", [b"", None, 5, [""]])
def test_a_record_is_read_from_text(thing: object) -> None:
    with pytest.raises(errors.MalformedRecord) as raised:
        parse_record(thing)  # type: ignore[arg-type]  # that is the point

    assert str(raised.value) == f"a record is text, not {thing!r}"


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
@example("")
@example(" bob")
@example("Zoe\u0308")
@example("bob\u2800")
@example("\x1b[2J")
@example("x" * 1000)
def test_any_name_that_was_recorded_can_be_read(name: str) -> None:
    """Names are checked when they are entered, so a record stays readable whatever the rules are now."""
    joined = events.PlayerJoined(X, name)
    history = (*START, joined)

    assert loads(dumps(joined)) == joined
    assert parse_record(format_record(history)) == history
    assert replay(history).players[0].name == fold(history).players[0].name == name  # type: ignore[union-attr]  # there is a game


@given(st.text())
def test_an_event_is_shown_without_control_characters(name: str) -> None:
    shown = str(events.PlayerJoined(X, name))

    assert shown.replace("\u200c", "").replace("\u200d", "").isprintable()
    assert shown.startswith("playerJoined(X,")


def test_every_event_can_be_written() -> None:
    assert {type(event) for event in WRITTEN} == set(events.Event.__args__)


def test_an_event_is_written_as_in_the_documents() -> None:
    text = " ".join(map(str, (*WRITTEN, events.GameCompleted(completed=False))))

    assert text == (
        "gameCreated(O) gameReady() playerActive(X) playerPlacedToken(0,2,X) gamePlacedCount(9) "
        "playerNotifyIllegalMove(O,cellTaken) gameWon(X) gameLost(O) gameDraw() gameCompleted(true) "
        "playerJoined(X,Zoë) playerResigned(O) playerTookBack(X) gameCompleted(false)"
    )


@given(any_event)
def test_every_event_reads_back(event: Event) -> None:
    assert decode(encode(event)) == event
    assert loads(dumps(event)) == event
    assert "\n" not in dumps(event)


def test_a_line_is_short_and_keeps_its_letters() -> None:
    assert dumps(events.PlayerJoined(X, "Zoë")) == (
        '{"schema":1,"event":"playerJoined","mark":"X","name":"Zoë"}'
    )


REASONS = "gameOver, noSuchCell, cellTaken, notYourTurn"
A_NAME = "text in whole characters without NUL"


@pytest.mark.parametrize(
    ("written", "kind", "message"),
    [
        ([], errors.MalformedRecord, "a written event is an object, not []"),
        (None, errors.MalformedRecord, "a written event is an object, not None"),
        ({}, errors.MalformedRecord, "a written event needs schema"),
        ({"schema": 1}, errors.MalformedRecord, "a written event needs event"),
        ({"event": "gameDraw"}, errors.MalformedRecord, "a written event needs schema"),
        (
            {"schema": 2, "event": "x"},
            errors.UnknownEvent,
            "schema 2 is unknown: this version reads schema 1",
        ),
        (
            {"schema": 1.0, "event": "x"},
            errors.UnknownEvent,
            "schema 1.0 is unknown: this version reads schema 1",
        ),
        (
            {"schema": True, "event": "x"},
            errors.UnknownEvent,
            "schema True is unknown: this version reads schema 1",
        ),
        (
            {"schema": 1, "event": "gameLaunched"},
            errors.UnknownEvent,
            "no event is called 'gameLaunched'",
        ),
        ({"schema": 1, "event": ["gameDraw"]}, errors.UnknownEvent, "no event is called ['gameDraw']"),
        ({"schema": 1, "event": "GameDraw"}, errors.UnknownEvent, "no event is called 'GameDraw'"),
        ({"schema": 1, "event": "gameWon"}, errors.MalformedRecord, "gameWon lacks mark"),
        (
            {"schema": 1, "event": "playerPlacedToken", "mark": "X"},
            errors.MalformedRecord,
            "playerPlacedToken lacks row and column",
        ),
        (
            {"schema": 1, "event": "gameDraw", "mark": "X", "row": 1},
            errors.MalformedRecord,
            "gameDraw has no 'mark'",
        ),
        (
            {"schema": 1, "event": "gameWon", "mark": "Y"},
            errors.MalformedRecord,
            "gameWon: mark is X or O, not 'Y'",
        ),
        (
            {"schema": 1, "event": "gameWon", "mark": []},
            errors.MalformedRecord,
            "gameWon: mark is X or O, not []",
        ),
        (
            {"schema": 1, "event": "gameCreated", "first": None},
            errors.MalformedRecord,
            "gameCreated: first is X or O, not None",
        ),
        *(
            (
                {
                    "schema": 1,
                    "event": "playerPlacedToken",
                    "row": 0,
                    "column": 0,
                    "mark": "X",
                    field: wrong,
                },
                errors.MalformedRecord,
                f"playerPlacedToken: {field} is 0, 1 or 2, not {wrong!r}",
            )
            for field in ("row", "column")
            for wrong in (3, -1, 1.0, True, "1")
        ),
        *(
            (
                {"schema": 1, "event": "gamePlacedCount", "count": wrong},
                errors.MalformedRecord,
                f"gamePlacedCount: count is 0 to 9, not {wrong!r}",
            )
            for wrong in (10, -1, 1.0, True, "1")
        ),
        *(
            (
                {"schema": 1, "event": "gameCompleted", "completed": wrong},
                errors.MalformedRecord,
                f"gameCompleted: completed is true, not {wrong!r}",
            )
            for wrong in (False, 1, "true")
        ),
        *(
            (
                {"schema": 1, "event": "playerJoined", "mark": "X", "name": wrong},
                errors.MalformedRecord,
                f"playerJoined: name is {A_NAME}, not {wrong!r}",
            )
            for wrong in (5, None, ["bob"], "a\0b", "\ud800")
        ),
        (
            {"schema": 1, "event": "playerNotifyIllegalMove", "mark": "X", "reason": "why not"},
            errors.MalformedRecord,
            f"playerNotifyIllegalMove: reason is one of {REASONS}, not 'why not'",
        ),
    ],
    ids=str,
)
def test_anything_else_is_refused(written: object, kind: type[errors.RecordError], message: str) -> None:
    with pytest.raises(errors.RecordError) as raised:
        decode(written)

    assert type(raised.value) is kind
    assert str(raised.value) == message


@pytest.mark.parametrize("count", range(10))
def test_every_count_reads_back(count: int) -> None:
    assert decode(encode(events.GamePlacedCount(count))) == events.GamePlacedCount(count)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "'' is not JSON"),
        ("{", "'{' is not JSON"),
        ("[" * 100_000, "'[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[…' is not JSON"),
        ("9" * 5000, "'99999999999999999999999999999999…' is not JSON"),
        ("\x1b", "'\\x1b' is not JSON"),
        ("x" * 10_000_000, "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…' is not JSON"),
        ('{"schema":1,"event":"gameWon","mark":"X","mark":"O"}', "a field is given twice"),
        ('{"schema":NaN}', "NaN is not JSON"),
        ('{"schema":-Infinity}', "-Infinity is not JSON"),
        ("17", "a written event is an object, not 17"),
    ],
    ids=range(10),
)
def test_a_line_that_is_not_an_event_is_refused(line: str, message: str) -> None:
    with pytest.raises(errors.MalformedRecord) as raised:
        loads(line)

    assert str(raised.value) == message


@given(json_values)
def test_any_json_is_an_event_or_refused(value: object) -> None:
    try:
        loads(json.dumps(value))
    except errors.RecordError as refusal:
        assert str(refusal).isprintable()


@given(any_event, st.data())
def test_any_damage_to_an_event_is_refused_or_makes_another_event(
    event: Event, data: st.DataObject
) -> None:
    written = encode(event)
    field = data.draw(st.sampled_from(sorted(written)))
    written[field] = data.draw(json_values)

    try:
        read = decode(written)
    except errors.RecordError as refusal:
        assert str(refusal).isprintable()
    else:
        assert encode(read) == written


@given(st.text())
def test_any_text_is_a_record_or_refused(text: str) -> None:
    with pytest.raises(errors.RecordError) as raised:
        parse_record(text)

    assert str(raised.value).isprintable()


@given(histories())
def test_every_record_reads_back(history: tuple[Event, ...]) -> None:
    text = format_record(history)

    assert text.count("\n") == len(history)
    assert parse_record(text) == history
    assert parse_record(text.removesuffix("\n")) == history
    assert (
        format_record((*history, events.PlayerNotifyIllegalMove(X, IllegalMoveReason.CELL_TAKEN))) == text
    )
    assert parse_record(text.replace("\n", "\r\n")) == history
    assert replay(parse_record(text)) == replay(history)


def whole_game() -> tuple[Event, ...]:
    """Return the record of a short game with a bit of everything."""
    history: list[Event] = list(decide(None, CreateGame(Mark.O)))
    for command in (JoinGame(X, "bob"), PlaceToken(O, 4), Resign(O)):
        history += decide(fold(history), command)
    return tuple(history)


def test_a_record_is_written_as_json_lines() -> None:
    """To the letter: files have this text, and it must stay readable."""
    assert format_record(whole_game()) == (
        '{"schema":1,"event":"gameCreated","first":"O"}\n'
        '{"schema":1,"event":"gameReady"}\n'
        '{"schema":1,"event":"playerActive","mark":"O"}\n'
        '{"schema":1,"event":"playerJoined","mark":"X","name":"bob"}\n'
        '{"schema":1,"event":"playerPlacedToken","row":1,"column":1,"mark":"O"}\n'
        '{"schema":1,"event":"gamePlacedCount","count":1}\n'
        '{"schema":1,"event":"playerActive","mark":"X"}\n'
        '{"schema":1,"event":"playerResigned","mark":"O"}\n'
        '{"schema":1,"event":"gameWon","mark":"X"}\n'
        '{"schema":1,"event":"gameLost","mark":"O"}\n'
        '{"schema":1,"event":"gameCompleted","completed":true}\n'
    )


@pytest.mark.parametrize(
    ("line", "kind", "message"),
    [
        ("", errors.MalformedRecord, "line 2: '' is not JSON"),
        (
            '{"schema":9,"event":"gameReady"}',
            errors.UnknownEvent,
            "line 2: schema 9 is unknown: this version reads schema 1",
        ),
        (
            '{"schema":1,"event":"playerNotifyIllegalMove","mark":"X","reason":"cellTaken"}',
            errors.ImpossibleHistory,
            "line 2: playerNotifyIllegalMove is not part of a game's record",
        ),
        (
            '{"schema":1,"event":"gameDraw"}',
            errors.ImpossibleHistory,
            "event 2 is gameDraw() instead of gameReady()",
        ),
    ],
    ids=range(4),
)
def test_a_record_with_a_bad_line_is_refused(line: str, kind: type[Exception], message: str) -> None:
    lines = format_record(whole_game()).split("\n")
    lines[1] = line

    with pytest.raises(errors.RecordError) as raised:
        parse_record("\n".join(lines))

    assert type(raised.value) is kind
    assert str(raised.value) == message
