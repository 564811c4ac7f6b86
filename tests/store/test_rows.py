"""A row alone: its record, its hash, its columns for lists, and what can be no change of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from random import Random
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from noughts import Mark, NoughtsError, events
from noughts.core.errors import IllegalMoveReason, ImpossibleHistory, InvalidArgument, MalformedRecord
from noughts.store.base import nothing
from noughts.store.errors import CorruptStore, InvalidId
from noughts.store.rows import (
    MAX_NUMBER,
    MAX_RECORD_BYTES,
    MAX_ROOM_BYTES,
    Columns,
    Row,
    StoredGame,
    entries_of,
    game_of,
    parse_record,
)
from support.played import (
    CREATED,
    DRAW,
    NOW,
    O_WINS,
    PLACED,
    ROOM,
    X_WINS,
    change_of,
    game_of as steps_of_game,
)
from support.store_games import changes


@st.composite
def stored_games(draw: st.DrawFn) -> StoredGame:
    """Draw a game of the terminal or of the web at any moment, also a deleted one."""
    seed = draw(st.integers(0, 10**9))
    played = [*changes(nothing(f"{'wt'[seed % 2]}-{seed}"), Random(seed))]
    return draw(st.sampled_from(played)).after


def row_of(stored: StoredGame) -> Row:
    return stored.id, stored.revision, stored.hour, stored.record, stored.room, stored.hash


@given(stored_games())
def test_a_row_is_read_back_as_it_was(stored: StoredGame) -> None:
    found = game_of((*row_of(stored), *stored.columns))
    assert found.entries == stored.entries
    assert (row_of(found), found.columns, found.version) == (
        row_of(stored),
        stored.columns,
        stored.version,
    )
    assert "".join(entry.piece for entry in found.entries) == stored.record
    assert found.version == len(found.events)


@given(stored_games(), st.integers())
def test_any_change_of_a_row_is_noticed(stored: StoredGame, seed: int) -> None:
    """In each column: a character or byte, the number, the type; and any two columns swapped.

    Also a text that is moved from one column to the next: the hash has the length of each.
    """
    row, chance = row_of(stored), Random(seed)
    rows = [
        (*row[:place], value, *row[place + 1 :])
        for place, value_before in enumerate(row)
        for value in _damaged(value_before, chance)
    ]
    for one, other in combinations(range(6), 2):
        swapped = [*row]
        swapped[one], swapped[other] = row[other], row[one]
        rows.append(tuple(swapped))
    game, revision, hour, record, room, found = row
    rows += [
        (game[:-1], revision, hour, game[-1:] + record, room, found),
        (game, revision, hour, record + room, "", found),
        (game, revision, hour, record[:-1], record[-1:] + room, found),
        (game + record, revision, hour, "", room, found),
    ]
    for damaged in rows:
        if repr(damaged) != repr(row):
            with pytest.raises(CorruptStore, match="has changed since it was recorded"):
                game_of(damaged)


def _damaged(value: Any, chance: Random) -> Iterator[object]:  # noqa: ANN401 - text, bytes or a number
    """Damage a value in several ways; in one place if it is text or bytes."""
    yield from (None, True, 1.0, "", b"")
    if isinstance(value, int):
        yield from (value ^ (1 << chance.randrange(63)), value + 1, -1 - value, 2**63 - 1)
        return
    place = chance.randrange(len(value) + 1)
    before, rest = value[:place], value[place:]
    new = chance.randbytes(1) if isinstance(value, bytes) else chance.choice("0az{}\n \x00é\ud800")
    yield from (before + new + rest[1:], before + rest[1:], before + new + rest, rest + before)


@pytest.mark.parametrize(
    "record",
    [
        *(
            "x",
            "\n",
            "key 1\n",
            "key 1\n{}",
            "key 1\n{}\n\n",
            "\nkey 1\n{}\n",
            "key  1\n{}\n",
            "key 1 \n{}\n",
        ),
        *("key -1\n{}\n", "key 01\n{}\n", "key \u0663\n{}\n", "key 1.0\n{}\n", "ä 1\n{}\n", " 1\n{}\n"),
        *("key 1\n[]\n", "key 1\r\n{}\n", "key 1\n{}\nkey 2\n", f"{'k' * 65} 1\n{{}}\n"),
        *(f"key {10**15}\n{{}}\n", "key 1\n{}\n" * (MAX_RECORD_BYTES // 9 + 1)),
    ],
    ids=lambda record: ascii(record[:20]),
)
def test_what_is_no_record_is_refused(record: str) -> None:
    with pytest.raises(MalformedRecord):
        parse_record(record)


@given(st.text("k1 \n{}", max_size=40))
@example("k 1\n{}\nk 11\n{}\n{1}\n")
def test_a_record_that_is_read_is_the_pieces_it_was_made_of(text: str) -> None:
    try:
        entries = parse_record(text)
    except MalformedRecord:
        return
    assert "".join(entry.piece for entry in entries) == text
    assert sum(entry.next_version - entry.version for entry in entries) == text.count("\n{")


@pytest.mark.parametrize(
    ("moves", "names", "room", "columns"),
    [
        ("", {}, "", Columns(NOW, NOW)),
        ("5", {"x": "Ann"}, "{}", Columns(NOW, NOW + 4, "Ann")),
        ("5", {}, ROOM, Columns(NOW, NOW + 3, open="seat", code="c0de")),
        (X_WINS, {"x": "Ann", "o": "Bob"}, ROOM, Columns(NOW, NOW + 17, "Ann", "Bob", "X", code="c0de")),
        (O_WINS, {"o": "Zoë"}, '{"open":"play"}', Columns(NOW, NOW + 19, None, "Zoë", "O")),
        (DRAW, {}, '{"open":null,"code":null}', Columns(NOW, NOW + 27, result="draw")),
        ("5", {"resigns": Mark.O}, "", Columns(NOW, NOW + 6, result="X")),
    ],
)
def test_the_columns_for_lists_follow_from_record_and_room(
    moves: str, names: dict[str, Any], room: str, columns: Columns
) -> None:
    game = change_of(nothing("game"), *steps_of_game(moves, **names), room=room).after
    assert game.columns == columns
    assert game.deleted().columns == Columns()


def _join(name: str) -> events.Event:
    return events.PlayerJoined(Mark.X, name)


NOTICE = events.PlayerNotifyIllegalMove(Mark.X, IllegalMoveReason.CELL_TAKEN)
NO_CHANGES: dict[str, tuple[Callable[[StoredGame], object], type[NoughtsError]]] = {
    "no events": (lambda game: change_of(game, ()), InvalidArgument),
    "a notice to one player": (lambda game: change_of(game, (NOTICE,)), ImpossibleHistory),
    "twice created": (lambda game: change_of(game, CREATED), CorruptStore),
    "a key that is no id": (lambda game: change_of(game, PLACED, key="a b"), InvalidId),
    "a bad count": (lambda game: change_of(game, [events.GamePlacedCount(10)]), MalformedRecord),
    "a bad cell": (
        lambda game: change_of(game, [events.PlayerPlacedToken(7, 0, Mark.X)]),
        MalformedRecord,
    ),
    "a name with a zero": (lambda game: change_of(game, [_join("a\0b")]), MalformedRecord),
    "half a character": (lambda game: change_of(game, [_join("\ud800")]), MalformedRecord),
    "a long name": (lambda game: change_of(game, [_join("a" * 2001)]), MalformedRecord),
    "a time before 1970": (lambda game: change_of(game, PLACED, at=-99), InvalidArgument),
    "a time after 9999": (lambda game: change_of(game, PLACED, at=MAX_NUMBER), InvalidArgument),
    "a time that is true": (lambda _game: entries_of([("key", True, PLACED)]), InvalidArgument),
    "a long room": (lambda game: change_of(game, room="x" * (MAX_ROOM_BYTES + 1)), MalformedRecord),
    "a room with a zero": (lambda game: change_of(game, room='{"a":"\0"}'), MalformedRecord),
    "half a character in a room": (lambda game: change_of(game, room='{"\ud800":1}'), MalformedRecord),
    "a room that is not JSON": (lambda game: change_of(game, room="{"), CorruptStore),
    "a room that is not an object": (lambda game: change_of(game, room="[]"), CorruptStore),
    "a room without end": (lambda game: change_of(game, room="[" * MAX_ROOM_BYTES), CorruptStore),
    "a code that is not text": (lambda game: change_of(game, room='{"code":[1]}'), CorruptStore),
    "half a character as a code": (lambda game: change_of(game, room='{"code":"\\ud800"}'), CorruptStore),
}


@pytest.mark.parametrize("what", NO_CHANGES)
def test_what_no_store_could_record_is_refused_before_it_is_submitted(what: str) -> None:
    """So it can't fail in one commit with others; the sentence can be printed."""
    make, kind = NO_CHANGES[what]
    game = change_of(nothing("game"), CREATED).after
    with pytest.raises(kind) as refusal:
        make(game)
    assert str(refusal.value).isprintable()
