"""Exports and imports: every sound game arrives, and whatever else is in a file is listed."""

from __future__ import annotations

import json
from bisect import bisect
from collections.abc import Iterator
from io import BytesIO
from itertools import accumulate
from typing import Any
from unittest.mock import Mock, patch

import pytest

from noughts import Event, Mark, TakeBack, X, decide, encode, events, fold
from noughts.core.errors import IllegalMoveReason
from noughts.store import archive, base
from noughts.store.archive import MAX_LINE_BYTES, Imported, export_all, export_game, import_lines
from noughts.store.base import Store, nothing
from noughts.store.errors import StoreUnavailable
from noughts.store.memory import MemoryStore
from noughts.store.rows import MAX_NUMBER, MAX_RECORD_BYTES, MAX_ROOM_BYTES, Row, entries_of
from noughts.store.verify import verify
from support.played import (
    CREATED,
    NOW,
    PLACED,
    ROOM,
    X_WINS,
    change_of,
    fill,
    found,
    game_of,
    play,
)

GAMES = ("Empty_1", "drawn", "given-up", "lost", "unfinished", "won")
"""Those that `fill` leaves, in the order of an export."""


@pytest.fixture
def source() -> Iterator[Store]:
    with MemoryStore() as store:
        fill(store)
        yield store


def exported(store: Store, *, with_rooms: bool = False) -> bytes:
    """Export a sound store."""
    notes: list[str] = []
    lines = [*export_all(store, notes.append, with_rooms=with_rooms)]
    assert notes == []
    return "".join(lines).encode()


def imported(store: Store, lines: bytes) -> tuple[Imported, list[str]]:
    """Import lines; return what was done, and what was noted."""
    notes: list[str] = []
    done = import_lines(store, BytesIO(lines), notes.append)
    assert done.skipped == len(notes)
    assert all(note.isprintable() and len(note) < 300 for note in notes)
    verify(store)
    return done, notes


def records(store: Store) -> dict[str, str]:
    return {row[0]: row[3] for row in store.rows() if row[3]}


# Out and in


@pytest.mark.parametrize("with_rooms", [False, True])
def test_what_is_exported_is_the_same_after_an_import(
    store: Store, source: Store, *, with_rooms: bool
) -> None:
    """Also the rooms, if they are in it; the rest is the new store's own."""
    store.count_hour(0)
    lines = exported(source, with_rooms=with_rooms)
    size = sum(found(source, game).version for game in GAMES)

    assert imported(store, lines) == (Imported(6, size, 0, 0), [])
    assert imported(store, lines) == (Imported(0, 0, 6, 0), [])

    assert exported(store, with_rooms=with_rooms) == lines
    assert records(store) == records(source)
    for game in GAMES:
        now = found(store, game)
        assert (now.revision, now.hour) == (1, 1)
        assert now.room == (found(source, game).room if with_rooms else "")


def test_a_line_is_a_game_that_people_can_read() -> None:
    stored = change_of(nothing("g"), *game_of("5", "Zo\u00eb"), room=ROOM).after
    head = f'{{"game":"g","record":[{{"key":"k0","at":{NOW},"events":[{{"schema":1,"event":"gameCreated"'

    line = export_game(stored)
    assert line.startswith(head)
    assert '"name":"Zo\u00eb"' in line
    assert export_game(stored, with_room=True) == f'{line[:-2]},"room":{ROOM}}}\n'
    assert export_game(stored.followed_by(room='{ "a":\n[1] }'), with_room=True).endswith('"a":[1]}}\n')


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
def test_lines_may_end_as_on_any_system(source: Store, line_end: bytes) -> None:
    """With LF or CRLF, the last one also with nothing; an empty file has no games."""
    lines = exported(source).replace(b"\n", line_end).removesuffix(line_end)

    assert imported(MemoryStore(), lines)[0].games == 6
    assert imported(MemoryStore(), b"")[0] == Imported(0, 0, 0, 0)


def test_what_is_there_or_was_deleted_stays_as_it_is(store: Store, source: Store) -> None:
    play(store, "won", game_of(X_WINS, "Ann", "Bob"), room=ROOM)
    play(store, "given-up", game_of("51"), at=NOW + 4000)
    play(store, "lost", game_of(""))
    play(store, "drawn", game_of(""))
    store.delete("drawn")
    play(store, "other", game_of(""))
    before = {row[0]: row[5] for row in store.rows()}

    done, notes = imported(store, exported(source, with_rooms=True))

    assert (done.games, done.known, done.skipped) == (2, 1, 3)
    assert notes == [
        "line 2: game drawn was deleted",
        "line 3: game given-up is there already, with another record",
        "line 4: game lost is there already, with another record",
    ]
    assert {row[0]: row[5] for row in store.rows() if row[0] in before} == before
    with (
        patch.object(store, "confirm", Mock(side_effect=StoreUnavailable)),
        pytest.raises(StoreUnavailable),  # what is known may be lost again
    ):
        imported(store, exported(source))


# Bad lines

CREATED_LINE: dict[str, Any] = json.loads(export_game(change_of(nothing("bad"), CREATED, PLACED).after))
LINE = json.dumps(CREATED_LINE).encode()
NOTICE = events.PlayerNotifyIllegalMove(Mark.X, IllegalMoveReason.CELL_TAKEN)
WON = game_of(X_WINS, "Ann")


def with_fields(**changes: object) -> bytes:
    """Return the line with other fields; ... leaves one out."""
    fields = {name: value for name, value in {**CREATED_LINE, **changes}.items() if value is not ...}
    return json.dumps(fields).encode()


def with_command(**changes: object) -> bytes:
    """Return the line with other fields in its first command."""
    first, *others = CREATED_LINE["record"]
    fields = {name: value for name, value in {**first, **changes}.items() if value is not ...}
    return with_fields(record=[fields, *others])


def with_raw(text: bytes, where: str = "at") -> bytes:
    """Return the line with text in it that Python wouldn't write as JSON."""
    line = with_command(at="?") if where == "at" else with_fields(room={"x": "?"})
    return line.replace(b'"?"', text)


def written(*steps: tuple[Event, ...]) -> bytes:
    """Write a game, whatever is wrong with it."""
    return with_fields(
        record=[
            {"key": f"k{number}", "at": NOW, "events": [encode(event) for event in step]}
            for number, step in enumerate(steps)
        ]
    )


NOT_A_GAME, NOT_A_COMMAND = "not a game: ", "not a command: "
BAD_ID, BAD_KEY = "the id of a game has 1 to 64", "the id of a command has 1 to 64"

BAD: dict[str, tuple[bytes, str]] = {
    "words": (b"hello", "'hello' is not JSON"),
    "an empty line": (b"", "'' is not JSON"),
    "a zero byte": (b"\0" + LINE, "is not JSON"),
    "a byte order mark": (b"\xef\xbb\xbf" + LINE, "is not JSON"),
    "not UTF-8": (LINE.replace(b"bad", b"b\xff\xfe"), "the line is not UTF-8"),
    "a very long line": (b"x" * 10_000_000, f"a line has at most {MAX_LINE_BYTES} bytes"),
    "deep lists": (b"[" * 900_000, "is not JSON"),
    "a deep room": (with_raw(b"[" * 900 + b"]" * 900, "room"), ""),
    "NaN": (with_raw(b"NaN"), "NaN is not JSON"),
    "NaN in the room": (with_raw(b"NaN", "room"), "NaN is not JSON"),
    "a large float in the room": (with_raw(b"1e999", "room"), "a value that can't be recorded"),
    "half a character in the room": (with_raw(b'"\\ud800"', "room"), "a value that can't be recorded"),
    "two games": (LINE + LINE, "is not JSON"),
    "half a game": (LINE[: len(LINE) // 2], "is not JSON"),
    "a list": (b"[]", NOT_A_GAME),
    "no game": (with_fields(game=...), NOT_A_GAME),
    "no record": (with_fields(record=...), NOT_A_GAME),
    "a field too many": (with_fields(hour=7), NOT_A_GAME),
    "a field without a name": (with_fields(**{"": 7}), NOT_A_GAME),
    "the format of before": (with_fields(version=0, at=NOW, key="k", hash="00"), NOT_A_GAME),
    "a field twice": (LINE.replace(b'"at"', b'"at": 1, "at"', 1), "a field is given twice"),
    "no key": (with_command(key=...), NOT_A_COMMAND),
    "events that are text": (with_command(events="gameCreated"), NOT_A_COMMAND),
    "an id with an escape": (with_fields(game="\x1b[2J"), BAD_ID),
    "an id that is too long": (with_fields(game="a" * 65), BAD_ID),
    "a bad key": (with_command(key="a\nb"), BAD_KEY),
    "a key twice": (with_command(key="k3"), "two commands have the same key"),
    "a time before 1970": (with_command(at=-1), "a time is 0 to"),
    "a time after the year 9999": (with_command(at=MAX_NUMBER + 1), "a time is 0 to"),
    "a time as a float": (with_raw(b"0.0"), "a time is 0 to"),
    "a time of 5,000 digits": (with_raw(b"9" * 5_000), "is not JSON"),
    "no commands": (written(), "a game has at least one event"),
    "no events": (with_command(events=[]), "at least one event"),
    "an unknown event": (
        with_command(events=[{"schema": 1, "event": "gameBurnt"}]),
        "no event is called 'gameBurnt'",
    ),
    "a notice to one player": (written(*WON[:-1], (NOTICE,)), "is not part of a game's record"),
    "no beginning": (written(*WON[1:]), "event 1, playerJoined"),
    "half a command": (written(*WON[:-1], WON[-1][:-1]), "the history stops after event"),
    "a very long name": (written(CREATED, (events.PlayerJoined(X, "a" * 2001),)), "2000 bytes"),
    "a room that is a list": (with_fields(room=[]), "a room is an object, not []"),
    "a room that is open in a strange way": (with_fields(room={"open": [1]}), "open and code"),
    "a room that is too long": (with_fields(room={"x": "y" * MAX_ROOM_BYTES}), "becomes too long"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_line_is_listed_and_all_others_are_imported(what: str, source: Store) -> None:
    """A sentence that can be printed names the line, and says why."""
    bad, reason = BAD[what]
    lines = exported(source).splitlines(keepends=True)

    store = MemoryStore()
    done, notes = imported(store, lines[0] + bad + b"\n" + b"".join(lines[1:]))

    if not reason:  # it may be taken
        return
    [note] = notes
    assert note.startswith("line 2: ")
    assert reason in note
    assert done.games == 6
    assert records(store) == records(source)


def test_a_game_twice_in_a_file_counts_once(store: Store) -> None:
    other = with_command(at=1)

    done, notes = imported(store, b"\n".join((LINE, LINE, other, LINE)))

    assert done == Imported(1, 6, 2, 1)
    assert notes == ["line 3: game bad is there already, with another record"]


def test_the_longest_record_is_taken(store: Store) -> None:
    taken_back = decide(fold((*CREATED, *PLACED)), TakeBack(X))
    steps = [CREATED, *(PLACED, taken_back) * 400]
    entries = entries_of((f"k{number}", NOW, step) for number, step in enumerate(steps))
    fits = bisect([*accumulate(len(entry.piece) for entry in entries)], MAX_RECORD_BYTES)

    assert imported(store, written(*steps[: fits + 1]))[1] == [
        "line 1: game bad becomes too long: nothing was recorded"
    ]
    assert imported(store, written(*steps[:fits]))[1] == []


# Long files


class Followed(BytesIO):
    """A file that notes how many games are recorded when each line is read."""

    def __init__(self, lines: bytes, store: Store) -> None:
        super().__init__(lines)
        self._store = store
        self.recorded: list[int] = []

    def readline(self, size: int | None = -1, /) -> bytes:
        self.recorded.append(self._store.count())
        return super().readline(size)


def test_games_are_committed_while_the_file_is_read(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long it is, only a few are in memory."""
    monkeypatch.setattr(archive, "MAX_WAITING_GAMES", 5)
    source = Followed(b"".join(with_fields(game=f"g{number}") + b"\n" for number in range(40)), store)

    assert import_lines(store, source, print).games == 40
    assert all(number - 6 <= there <= number for number, there in enumerate(source.recorded))


def test_an_export_reads_page_by_page(source: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    pages: list[str] = []
    read = source._page  # noqa: SLF001 - how an engine is read

    def read_page(after: str, limit: int) -> list[Row]:
        pages.append(after)
        return read(after, limit)

    monkeypatch.setattr(base, "PAGE_ROWS", 2)
    monkeypatch.setattr(source, "_page", read_page)
    lines = export_all(source, print)

    assert [len(pages) for _ in lines] == [1, 2, 2, 3, 3, 4]


# Damage


def test_a_damaged_game_is_listed_and_all_others_are_exported_and_found(source: Store) -> None:
    lines, notes = exported(source), list[str]()
    games = source._database.games  # type: ignore[attr-defined]  # noqa: SLF001 - as damage changes it
    games["lost"] = (*games["lost"][:2], 7, *games["lost"][3:])
    assert import_lines(source, BytesIO(lines), notes.append) == Imported(0, 0, 5, 1)
    assert notes == ["line 4: game 'lost' has changed since it was recorded"]

    harmed = found(source, "drawn").followed_by(room="harm")
    games["drawn"] = ("drawn", harmed.revision, 0, harmed.record, "harm", harmed.hash)
    notes.clear()
    left = [json.loads(line)["game"] for line in export_all(source, notes.append, with_rooms=True)]
    assert left == ["Empty_1", "given-up", "unfinished", "won"]
    assert notes == [
        "the room of game 'drawn' can't be read: 'harm' is not JSON",
        "game 'lost' has changed since it was recorded",
    ]
