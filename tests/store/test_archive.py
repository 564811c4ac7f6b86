"""Games out of a store and into one, whole or not at all; and copies of a whole store."""

from __future__ import annotations

import json
import os
import sqlite3
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noughts import Mark, events
from noughts.core.codec import dumps
from noughts.core.errors import (
    BrokenChain,
    CorruptStore,
    ImpossibleHistory,
    MalformedRecord,
    Reason,
    RecordError,
    StoreError,
    StoreUnavailable,
    UnknownEvent,
)
from noughts.store.archive import LONGEST_LINE, Imported, backup, export_all, export_game, import_lines
from noughts.store.memory import MemoryStore
from noughts.store.opening import open_store
from noughts.store.sqlite import SQLiteStore
from noughts.store.verifying import verify
from played import DRAW, NOW, O_WINS, X_WINS, check_whole, feed_of, fill, game_of, play

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from noughts import Event
    from noughts.store.base import EventStore
    from noughts.store.chain import Recorded

EXAMPLES = 2_000 if os.environ.get("NOUGHTS_TORTURE") else 200


def exported(store: EventStore) -> bytes:
    """Return a store as the bytes of a file."""
    return "".join(export_all(store)).encode()


def written(game: str, history: list[Event]) -> bytes:
    """Write a game as lines, with the right hashes, whatever else is wrong with it."""
    lines, previous = [], b""
    for version, event in enumerate(history, start=1):
        text = dumps(event)
        previous = sha256(previous + f"{game}\n{version}\n{NOW}\nkey\n{text}".encode()).digest()
        line = {"game": game, "version": version, "at": NOW, "key": "key", "event": json.loads(text)}
        lines.append(json.dumps({**line, "hash": previous.hex()}, ensure_ascii=False) + "\n")
    return "".join(lines).encode()


def steps(moves: str, *names: str) -> list[Event]:
    """Return all events of a game."""
    return [event for step in game_of(moves, *names) for event in step]


@pytest.fixture
def source() -> Iterator[EventStore]:
    """Return a store with some games in it."""
    with MemoryStore() as store:
        fill(store)
        yield store


# Out and in


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres"])
def test_what_is_exported_can_be_imported(
    store: EventStore, kind: str, request: pytest.FixtureRequest
) -> None:
    """From every kind of store into every other, with the same hashes, in the same order of games."""
    fill(store)
    with open_store("memory:" if kind == "memory" else another(request, kind)) as target:
        lines = exported(store)
        total = len(feed_of(store))

        assert import_lines(target, BytesIO(lines)) == Imported(games=6, events=total, known=0)
        assert exported(target) == lines
        assert [listed[:5] for listed in target.games()] == [listed[:5] for listed in store.games()]
        for listed in store.games():
            theirs, ours = target.read(listed.id), store.read(listed.id)
            assert [record[1:] for record in theirs] == [record[1:] for record in ours]
        check_whole(feed_of(target))
        verify(target)


def another(request: pytest.FixtureRequest, kind: str) -> str:
    """Return the URL of one more empty place."""
    if kind == "sqlite":
        return f"sqlite:{request.getfixturevalue('tmp_path') / 'another.db'}"
    return str(request.getfixturevalue("postgres").place())


def test_one_game_is_exported_alone(store: EventStore) -> None:
    """As the same lines that it has among all."""
    fill(store)
    lines = list(export_game(store, "drawn"))

    assert lines == [line for line in export_all(store) if json.loads(line)["game"] == "drawn"]
    assert [json.loads(line)["version"] for line in lines] == list(range(1, len(lines) + 1))
    assert list(export_game(store, "nobody-knows")) == []


def test_a_line_says_all_that_its_hash_covers(store: EventStore) -> None:
    """So that anybody can check it, with nothing but the line and the one before it."""
    fill(store)
    previous: dict[str, bytes] = {}
    for line in export_all(store):
        fields = json.loads(line)
        assert list(fields) == ["game", "version", "at", "key", "event", "hash"]
        text = json.dumps(fields["event"], ensure_ascii=False, separators=(",", ":"))
        sealed = f"{fields['game']}\n{fields['version']}\n{fields['at']}\n{fields['key']}\n{text}"
        link = sha256(previous.get(fields["game"], b"") + sealed.encode()).digest()
        assert fields["hash"] == link.hex()
        previous[fields["game"]] = link


def test_importing_twice_changes_nothing(store: EventStore, source: EventStore) -> None:
    """An import that was interrupted can be run again."""
    lines = exported(source)
    import_lines(store, BytesIO(lines))
    before = feed_of(store)

    assert import_lines(store, BytesIO(lines)) == Imported(6, 0, len(before))
    assert feed_of(store) == before


def test_an_import_continues_what_is_there(store: EventStore, source: EventStore) -> None:
    """The beginning of a game is known already; the rest is added to it."""
    play(store, "other", game_of("5"))
    known = version = 0
    for step in game_of(X_WINS, "Ann", "Bob")[:4]:
        version = store.append("won", step, expected=version, key=f"k{version}", at=NOW + version)
        known += len(step)

    imported = import_lines(store, BytesIO(exported(source)))

    assert imported == Imported(6, len(feed_of(source)) - known, known)
    assert [record[1:] for record in store.read("won")] == [record[1:] for record in source.read("won")]
    verify(store)


def test_an_import_leaves_what_went_further_as_it_is(store: EventStore, source: EventStore) -> None:
    """The file may be older than the store."""
    fill(store)
    older = b"".join(line.encode() for line in list(export_game(source, "drawn"))[:8])

    assert import_lines(store, BytesIO(older)) == Imported(1, 0, 8)


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
def test_lines_may_end_as_on_any_system(store: EventStore, source: EventStore, line_end: bytes) -> None:
    """And the last may have no end at all."""
    lines = exported(source).replace(b"\n", line_end).removesuffix(line_end)

    assert import_lines(store, BytesIO(lines)).games == 6


def test_an_empty_file_has_no_games(store: EventStore) -> None:
    """There is nothing wrong with it, and nothing in it."""
    assert import_lines(store, BytesIO(b"")) == Imported(0, 0, 0)
    assert list(export_all(store)) == []


# What is refused


WON = steps(X_WINS, "Ann")
GOOD = written("good", steps(DRAW))
FIRST = written("bad", steps(""))


def line_with(**changes: object) -> bytes:
    """Return a first line of a game with something else in it."""
    fields = json.loads(FIRST.splitlines()[0])
    return json.dumps({**fields, **changes}).encode() + b"\n"


def lacking(field: str) -> bytes:
    """Return a first line of a game that lacks something."""
    fields = json.loads(FIRST.splitlines()[0])
    del fields[field]
    return json.dumps(fields).encode() + b"\n"


def with_event(**changes: object) -> bytes:
    """Return a first line of a game with something else in its event."""
    return line_with(event={**json.loads(FIRST.splitlines()[0])["event"], **changes})


def twice(field: str) -> bytes:
    """Return a first line of a game that says something twice."""
    return FIRST.splitlines()[0].replace(f'"{field}"'.encode(), f'"{field}": 1, "{field}"'.encode(), 1)


def hash_and(change: Callable[[str], str]) -> tuple[bytes, bytes]:
    """Return the hash of a first line, and what it is changed to."""
    link = str(json.loads(FIRST.splitlines()[0])["hash"])
    return link.encode(), change(link).encode()


NOTICE = events.PlayerNotifyIllegalMove(Mark.X, Reason.CELL_TAKEN)
ROWS = written("bad", steps("")).splitlines(keepends=True)

HOSTILE: dict[str, tuple[bytes, type[RecordError]]] = {
    "a very long line": (b"x" * 10_000_000, MalformedRecord),
    "a long line of JSON": (line_with(key="k" * LONGEST_LINE), MalformedRecord),
    "a long line of spaces": (b" " * LONGEST_LINE + ROWS[0], MalformedRecord),
    "no JSON": (b"hello\n", MalformedRecord),
    "an empty line": (b"\n", MalformedRecord),
    "half a line": (ROWS[0][:40], MalformedRecord),
    "two on one line": (ROWS[0].strip() + ROWS[1], MalformedRecord),
    "a list": (b"[]\n", MalformedRecord),
    "a number": (b"7\n", MalformedRecord),
    "nothing": (b"null\n", MalformedRecord),
    "not UTF-8": (ROWS[0].replace(b"bad", b"b\xff\xfe"), MalformedRecord),
    "UTF-16": (ROWS[0].decode().encode("utf-16"), MalformedRecord),
    "a mark of the order of bytes": (b"\xef\xbb\xbf" + ROWS[0], MalformedRecord),
    "a zero byte": (b"\0" + ROWS[0], MalformedRecord),
    "deep lists": (b"[" * 9_000 + b"\n", MalformedRecord),
    "deep objects": (b'{"a":' * 900 + b"1" + b"}" * 900 + b"\n", MalformedRecord),
    "a deep event": (line_with(event="?").replace(b'"?"', b"[" * 800 + b"]" * 800), MalformedRecord),
    "NaN": (line_with(at="?").replace(b'"?"', b"NaN"), MalformedRecord),
    "infinity": (line_with(version="?").replace(b'"?"', b"-Infinity"), MalformedRecord),
    "a large float": (line_with(version="?").replace(b'"?"', b"1e999"), MalformedRecord),
    "a float": (line_with(version="?").replace(b'"?"', b"1.0"), MalformedRecord),
    "a very large number": (line_with(version="?").replace(b'"?"', b"9" * 5_000), MalformedRecord),
    "a large number": (line_with(at=2**64), MalformedRecord),
    "a large version": (line_with(version=2**63), MalformedRecord),
    "a time before 1970": (line_with(at=-1), MalformedRecord),
    "true for a number": (line_with(version=True), MalformedRecord),
    "text for a number": (line_with(at=str(NOW)), MalformedRecord),
    "version 0": (line_with(version=0), MalformedRecord),
    "version 2 at first": (line_with(version=2), MalformedRecord),
    "a version twice": (ROWS[0] * 2, MalformedRecord),
    "a version left out": (ROWS[0] + ROWS[2], MalformedRecord),
    "versions turned round": (ROWS[0] + ROWS[2] + ROWS[1], MalformedRecord),
    "a field too many": (line_with(more=1), MalformedRecord),
    "no field at all": (b"{}\n", MalformedRecord),
    **{f"no {field}": (lacking(field), MalformedRecord) for field in json.loads(ROWS[0])},
    **{f"{field} twice": (twice(field), MalformedRecord) for field in json.loads(ROWS[0])},
    "a field of the event twice": (
        ROWS[0].replace(b'"first"', b'"first": "X", "first"'),
        MalformedRecord,
    ),
    "no id": (line_with(game=""), MalformedRecord),
    "an id that moves the cursor": (line_with(game="\x1b[2J"), MalformedRecord),
    "an id of half a character": (line_with(game="\ud800"), MalformedRecord),
    "an id that is too long": (line_with(game="a" * 65), MalformedRecord),
    "an id that is no text": (line_with(game=["bad"]), MalformedRecord),
    "a key with a line end": (line_with(key="a\nb"), MalformedRecord),
    "a key that is no text": (line_with(key=7), MalformedRecord),
    "an unknown event": (with_event(event="gameBurnt"), UnknownEvent),
    "an unknown schema": (with_event(schema=2), UnknownEvent),
    "an event of no kind": (line_with(event={"schema": 1}), MalformedRecord),
    "an event as text": (line_with(event="gameCreated"), MalformedRecord),
    "a mark that is none": (with_event(first="Y"), MalformedRecord),
    "a short hash": (line_with(hash="00"), MalformedRecord),
    "a hash in capitals": (ROWS[0].replace(*hash_and(str.upper)), MalformedRecord),
    "a hash with spaces": (ROWS[0].replace(*hash_and(lambda text: f" {text[1:]}")), MalformedRecord),
    "a hash of no digits": (line_with(hash="g" * 64), MalformedRecord),
    "a hash that is a number": (line_with(hash=7), MalformedRecord),
    "another hash": (line_with(hash="0" * 64), BrokenChain),
    "another time": (line_with(at=NOW + 1), BrokenChain),
    "another key": (line_with(key="another"), BrokenChain),
    "another game": (line_with(game="another"), BrokenChain),
    "another event": (with_event(first="O"), BrokenChain),
    "lines of two games mixed": (ROWS[0] + written("b", WON) + b"".join(ROWS[1:]), RecordError),
    "lines of a game apart": (b"".join(ROWS) + written("b", WON) + ROWS[0], MalformedRecord),
    "the same game twice": (written("b", WON) + b"".join(ROWS) + written("b", WON), MalformedRecord),
    "a game of which there was one before": (GOOD, MalformedRecord),
    "a word to one player": (written("bad", [*steps("5"), NOTICE]), ImpossibleHistory),
    "no beginning": (written("bad", WON[1:]), ImpossibleHistory),
    "half a command": (written("bad", WON[:-1]), ImpossibleHistory),
    "a move after the end": (written("bad", [*WON, *steps("5")[3:]]), ImpossibleHistory),
    "a win out of nothing": (written("bad", [*steps(""), events.GameWon(Mark.X)]), ImpossibleHistory),
    "a seat taken twice": (
        written("bad", [*steps("", "Ann"), events.PlayerJoined(Mark.X, "Eve")]),
        ImpossibleHistory,
    ),
}


@pytest.mark.parametrize("place", ["alone", "after others", "between others"])
@pytest.mark.parametrize("what", HOSTILE)
def test_a_bad_file_is_refused_as_a_whole(what: str, place: str) -> None:
    """Nothing of it is recorded; a sentence that can be printed names the line, or the game."""
    bad, kind = HOSTILE[what]
    before = GOOD if place != "alone" or what == "a game of which there was one before" else b""
    after = written("later", WON) if place == "between others" else b""
    if not bad.endswith(b"\n") and after:
        bad += b"\n"
    with MemoryStore() as store:
        with pytest.raises(kind) as refusal:
            import_lines(store, BytesIO(before + bad + after))

        sentence = str(refusal.value)
        assert sentence.isprintable()
        assert len(sentence) < 300
        first = before.count(b"\n") + 1
        last = (before + bad).count(b"\n") + 1
        if kind is ImpossibleHistory and what != "a word to one player":
            assert "game bad: " in sentence
        elif "apart" not in what and "mixed" not in what:
            number = int(sentence.removeprefix("line ").partition(":")[0])
            assert first <= number <= last
        assert store.feed() == ()
        assert store.games() == ()


@pytest.mark.parametrize("what", ["a float", "another hash", "half a command", "a very long line"])
def test_no_kind_of_store_records_anything_of_a_bad_file(store: EventStore, what: str) -> None:
    """What was there before is there as it was."""
    fill(store)
    before = feed_of(store)
    with pytest.raises(RecordError):
        import_lines(store, BytesIO(GOOD + HOSTILE[what][0]))

    assert feed_of(store) == before
    verify(store)


def test_the_line_that_is_named_is_the_one_at_fault(store: EventStore) -> None:
    """Counted from 1, as editors do."""
    lines = GOOD.splitlines(keepends=True)
    for number in range(1, len(lines) + 1):
        bad = [*lines]
        bad[number - 1] = b"?\n"
        with pytest.raises(MalformedRecord, match=rf"^line {number}: '\?' is not JSON$"):
            import_lines(store, BytesIO(b"".join(bad)))


def test_a_history_that_cannot_be_is_said_to_be_the_game_that_it_is() -> None:
    """The sentence names no line of another game, and the same whether other games follow or not."""
    bad = written("bad", WON[:-1])
    sentences = []
    for after in (b"", written("later", WON)):
        with pytest.raises(ImpossibleHistory) as refusal:
            import_lines(MemoryStore(), BytesIO(GOOD + bad + after))
        sentences.append(str(refusal.value))

    assert sentences[0] == sentences[1]


def test_a_game_that_went_another_way_is_refused(store: EventStore, source: EventStore) -> None:
    """What is in the store stays, and nothing of the file is recorded."""
    play(store, "given-up", game_of("59"))
    before = feed_of(store)
    with pytest.raises(BrokenChain, match="game given-up went another way in the store, from event 7 on"):
        import_lines(store, BytesIO(exported(source)))

    assert feed_of(store) == before


@settings(max_examples=EXAMPLES)
@given(seed=st.integers(0, 2**32), count=st.integers(1, 3))
def test_a_damaged_file_is_never_imported_by_half(seed: int, count: int) -> None:
    """Either nothing is recorded, or games that are whole, with the hashes that they had."""
    with MemoryStore() as source, MemoryStore() as target:
        fill(source)
        right = {record[1:] for record in source.feed()}
        damaged = bytearray(exported(source))
        chance = Random(seed)
        for _ in range(count):
            damage(damaged, chance)
        try:
            imported = import_lines(target, BytesIO(bytes(damaged)))
        except RecordError as refusal:
            assert str(refusal).isprintable()
            assert target.feed() == ()
        else:
            found = feed_of(target)
            assert imported.events == len(found)
            assert {record[1:] for record in found} <= right
            check_whole(found)
            verify(target)


def damage(content: bytearray, chance: Random) -> None:
    """Flip a bit, or cut out, double, move or overwrite a piece, or a whole line."""
    at = chance.randrange(len(content))
    end = at + chance.choice((1, 1, 10, 300))
    if chance.random() < 0.3:  # whole lines
        at = content.rfind(b"\n", 0, at) + 1
        end = content.find(b"\n", min(end, len(content) - 1)) + 1
    piece = content[at:end]
    match chance.randrange(6):
        case 0:
            content[at] ^= 1 << chance.randrange(8)
        case 1:
            del content[at:end]
        case 2:
            content[at:at] = piece
        case 3:
            del content[at:end]
            there = chance.randrange(len(content) + 1)
            content[there:there] = piece
        case 4:
            content[at:end] = chance.randbytes(len(piece))
        case _:
            del content[at:]
    if not content:
        content += b"\n"


# Copies


def test_a_backup_is_the_store_once_more(store: EventStore, tmp_path: Path) -> None:
    """Every event at its position, every hash; and it is a store like any other."""
    fill(store)
    target = tmp_path / "copies" / "copy.db"

    assert backup(store, str(target)) == len(feed_of(store))
    assert [each.name for each in target.parent.iterdir()] == ["copy.db"]
    with SQLiteStore(str(target), create=False) as copy:
        assert feed_of(copy) == feed_of(store)
        assert copy.games() == store.games()
        verify(copy)
        play(copy, "new", game_of(O_WINS))
    assert "new" not in {record.game for record in store.feed()}


def test_a_backup_of_nothing_is_an_empty_store(store: EventStore, tmp_path: Path) -> None:
    """It can be opened all the same."""
    assert backup(store, str(tmp_path / "copy.db")) == 0
    with SQLiteStore(str(tmp_path / "copy.db"), create=False) as copy:
        assert copy.feed() == ()


def test_a_backup_of_many_pages_is_whole(
    store: EventStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a page ends in the middle of a command."""
    fill(store)
    feed = store.feed
    monkeypatch.setattr(store, "feed", lambda after: feed(after, 5))

    assert backup(store, str(tmp_path / "copy.db")) == len(feed())
    with SQLiteStore(str(tmp_path / "copy.db")) as copy:
        assert copy.feed() == feed()


def test_a_backup_while_others_write_is_whole(
    store: EventStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the store as it stood at some moment: no command is there by half."""
    fill(store)
    feed = store.feed
    left = [f"during{number}" for number in range(5)]

    def feed_and_write(after: int) -> tuple[Recorded, ...]:
        found = feed(after, 50)
        if left:
            play(store, left.pop(), game_of(X_WINS))
        return found

    monkeypatch.setattr(store, "feed", feed_and_write)
    copied = backup(store, str(tmp_path / "copy.db"))
    with SQLiteStore(str(tmp_path / "copy.db")) as copy:
        found = feed_of(copy)
        assert tuple(found) == feed()[:copied]
        verify(copy)


@pytest.mark.parametrize("taken", ["copy.db", "copy.db.partial"])
def test_a_backup_replaces_nothing(store: EventStore, tmp_path: Path, taken: str) -> None:
    """Neither a file of that name, nor what another backup is about to become."""
    fill(store)
    (tmp_path / taken).write_bytes(b"precious")
    with pytest.raises(StoreUnavailable, match=r"a backup (replaces nothing|that was ended halfway)"):
        backup(store, str(tmp_path / "copy.db"))

    assert (tmp_path / taken).read_bytes() == b"precious"
    assert len(list(tmp_path.glob("copy*"))) == 1


def test_a_backup_replaces_nothing_that_came_meanwhile(
    source: EventStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody else may choose the same name while the copy is made."""
    target = tmp_path / "copy.db"
    feed = source.feed

    def feed_while_another_file_comes(after: int) -> tuple[Recorded, ...]:
        target.write_bytes(b"precious")
        return feed(after)

    monkeypatch.setattr(source, "feed", feed_while_another_file_comes)
    with pytest.raises(StoreUnavailable):
        backup(source, str(target))

    assert target.read_bytes() == b"precious"
    assert [each.name for each in tmp_path.iterdir()] == ["copy.db"]


@pytest.mark.parametrize("name", ["copy.db", "copy[1].db", "copy?.db", "c*.db", "copié.db"])
def test_a_backup_that_fails_leaves_nothing_behind(
    source: EventStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A store in which something has changed is not copied, and no part of a copy stays."""
    feed = source.feed

    def feed_until_it_fails(after: int) -> tuple[Recorded, ...]:
        if after:
            raise CorruptStore("record 11 has changed")
        return feed(after, 10)

    monkeypatch.setattr(source, "feed", feed_until_it_fails)
    with pytest.raises(CorruptStore, match="record 11"):
        backup(source, str(tmp_path / name))

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["copy[1].db", "c*.db", "cop?1.db"])
def test_a_backup_cleans_up_only_behind_itself(source: EventStore, tmp_path: Path, name: str) -> None:
    """However its own name is spelled, the files of others stay."""
    other = tmp_path / "copy1.db.partial"
    other.write_bytes(b"precious")
    backup(source, str(tmp_path / name))

    assert other.read_bytes() == b"precious"
    assert (tmp_path / name).exists()


@pytest.mark.parametrize("where", ["file/copy.db", "folder"])
def test_a_backup_that_cannot_be_written_is_refused(
    source: EventStore, tmp_path: Path, where: str
) -> None:
    """With a sentence of ours, and nothing is left behind."""
    (tmp_path / "file").write_bytes(b"precious")
    (tmp_path / "folder").mkdir()
    with pytest.raises(StoreError):
        backup(source, str(tmp_path / where))

    assert sorted(each.name for each in tmp_path.rglob("*")) == ["file", "folder"]
    assert (tmp_path / "file").read_bytes() == b"precious"


def test_a_backup_of_a_damaged_store_is_refused(sqlite_url: str, tmp_path: Path) -> None:
    """What has changed since it was recorded is not carried on."""
    with open_store(sqlite_url) as store:
        fill(store)
    path = Path(sqlite_url.removeprefix("sqlite:"))
    database = sqlite3.connect(path)
    database.execute("UPDATE events SET at = at + 1 WHERE position = 30")
    database.commit()
    database.close()
    with open_store(sqlite_url) as store, pytest.raises(CorruptStore, match="record 30 has changed"):
        backup(store, str(tmp_path / "copy.db"))

    assert [each.name for each in tmp_path.iterdir() if each.name.startswith("copy")] == []
