"""Exports and imports of games, all of them or none; and copies of a whole store."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from noughts import Event, Mark, errors, events
from noughts.core.codec import dumps
from noughts.store import archive, backups
from noughts.store.archive import MAX_LINE_BYTES, Imported, export_all, export_game, import_lines
from noughts.store.backups import Copied, backup, repair, restore
from noughts.store.base import EventStore
from noughts.store.memory import MemoryStore
from noughts.store.records import Record
from noughts.store.sqlite import SQLiteStore
from noughts.store.urls import open_store
from noughts.store.verify import verify
from support.damages import Place
from support.length import short_or_long
from support.played import DRAW, NOW, O_WINS, X_WINS, check_whole, events_of, feed_of, fill, game_of, play

EXAMPLES = short_or_long(200, 2_000)


def exported(store: EventStore) -> bytes:
    return "".join(export_all(store)).encode()


def total(store: EventStore) -> int:
    return len(events_of(feed_of(store)))


def old_export(store: EventStore) -> bytes:
    """Return a store as older versions exported it: a line for each event, with a hash of its own."""
    lines = []
    for summary in reversed(store.games(limit=1000)):
        version, link = 0, b""
        for record in store.read(summary.id):
            for text in record.text.split("\n"):
                version += 1
                hashed = f"{record.game}\n{version}\n{record.at}\n{record.key}\n{text}"
                link = sha256(link + hashed.encode()).digest()
                lines.append(
                    f'{{"game":"{record.game}","version":{version},"at":{record.at},"key":"{record.key}",'
                    f'"event":{text},"hash":"{link.hex()}"}}\n'
                )
    return "".join(lines).encode()


def written(game: str, *commands: Sequence[Event]) -> bytes:
    """Write a game as lines with valid hashes, whatever else is wrong with it."""
    lines, version, link = [], 0, b""
    for command in commands:
        texts = [*map(dumps, command)]
        hashed = f"{game}\n{version}\n{NOW}\nkey\n" + "\n".join(texts)
        link = sha256(link + hashed.encode()).digest()
        line = {"game": game, "version": version, "at": NOW, "key": "key"}
        line |= {"events": [*map(json.loads, texts)], "hash": link.hex()}
        lines.append(json.dumps(line, ensure_ascii=False) + "\n")
        version += len(texts)
    return "".join(lines).encode()


@pytest.fixture
def source() -> Iterator[EventStore]:
    with MemoryStore() as store:
        fill(store)
        yield store


# Out and in


@pytest.mark.parametrize("write", [exported, old_export], ids=["new", "old"])
def test_what_is_exported_can_be_imported(
    store: EventStore, new_url: Callable[[], str], write: Callable[[EventStore], bytes]
) -> None:
    """An import leads to the same records, with the same hashes, in any store and from either format."""
    fill(store)
    with open_store(new_url()) as target:
        assert import_lines(target, BytesIO(write(store))) == Imported(6, total(store), known=0)
        assert exported(target) == exported(store)
        assert target.games() == store.games()
        assert import_lines(target, BytesIO(write(store))) == Imported(6, 0, known=total(store))
        check_whole(feed_of(target))
        verify(target)


def test_games_are_exported_in_the_order_in_which_they_were_started(
    store: EventStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "PAGE_ROWS", 2)
    for number, game in enumerate("cadbe"):
        store.append(game, game_of("")[0], expected=0, key="k", at=NOW - number // 2)
    lines = [*export_all(store)]

    assert [json.loads(line)["game"] for line in lines] == ["e", "b", "d", "a", "c"]
    assert [*export_game(store, "d")] == lines[2:3]
    assert [*export_game(store, "nobody-knows")] == []


def test_a_line_says_all_that_its_hash_covers(store: EventStore) -> None:
    """A line can be checked with only that line and the one before it."""
    fill(store)
    ends: dict[str, tuple[int, bytes]] = {}
    for line in export_all(store):
        fields = json.loads(line)
        assert list(fields) == ["game", "version", "at", "key", "events", "hash"]
        texts = (
            json.dumps(event, ensure_ascii=False, separators=(",", ":")) for event in fields["events"]
        )
        version, previous = ends.get(fields["game"], (0, b""))
        text = "\n".join((fields["game"], str(version), str(fields["at"]), fields["key"], *texts))
        link = sha256(previous + text.encode()).digest()
        assert (fields["version"], fields["hash"]) == (version, link.hex())
        ends[fields["game"]] = version + len(fields["events"]), link


@pytest.mark.parametrize("write", [exported, old_export], ids=["new", "old"])
def test_an_import_continues_what_is_there(
    store: EventStore, source: EventStore, write: Callable[[EventStore], bytes]
) -> None:
    play(store, "other", game_of("5"))
    known = play(store, "won", game_of(X_WINS, "Ann", "Bob")[:4])

    assert import_lines(store, BytesIO(write(source))) == Imported(6, total(source) - known, known)
    assert store.read("won") == source.read("won")
    verify(store)


def test_an_import_leaves_what_went_further_as_it_is(store: EventStore, source: EventStore) -> None:
    fill(store)
    older = [*export_game(source, "drawn")][:5]
    known = sum(len(json.loads(line)["events"]) for line in older)

    assert import_lines(store, BytesIO("".join(older).encode())) == Imported(1, 0, known)


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
def test_lines_may_end_as_on_any_system(source: EventStore, line_end: bytes) -> None:
    """Lines end with LF or CRLF, the last one may have no end, and an empty file has no games."""
    lines = exported(source).replace(b"\n", line_end).removesuffix(line_end)

    assert import_lines(MemoryStore(), BytesIO(lines)).games == 6
    assert import_lines(MemoryStore(), BytesIO(b"")) == Imported(0, 0, 0)


def test_a_deleted_game_is_not_imported_again(store: EventStore, source: EventStore) -> None:
    play(store, "won", game_of(""))
    store.delete("won", at=NOW)
    before = feed_of(store)
    with pytest.raises(errors.NoSuchGame, match="game won was deleted from this store, and can't"):
        import_lines(store, BytesIO(exported(source)))

    assert feed_of(store) == before
    assert list(export_all(store)) == []


# What is refused


WON = game_of(X_WINS, "Ann")
GOOD = written("good", *game_of(DRAW))
ROWS = written("bad", *game_of("59")).splitlines(keepends=True)
with MemoryStore() as older_store:
    play(older_store, "bad", game_of("59"))
    OLD = old_export(older_store).splitlines(keepends=True)
CREATED = json.loads(ROWS[0])
LINK: str = CREATED["hash"]


def line_with(**changes: object) -> bytes:
    """Return a game's first line with other fields; ... leaves one out."""
    fields = {name: value for name, value in {**CREATED, **changes}.items() if value is not ...}
    return json.dumps(fields).encode() + b"\n"


def with_event(**changes: object) -> bytes:
    """Return a game's first line with other fields in its first event."""
    first, *others = CREATED["events"]
    return line_with(events=[{**first, **changes}, *others])


def twice(line: bytes, field: str) -> bytes:
    return line.replace(f'"{field}"'.encode(), f'"{field}": 1, "{field}"'.encode(), 1)


def numbered(text: bytes, field: str = "version") -> bytes:
    """Return a game's first line with that number, which JSON or Python wouldn't write."""
    return line_with(**{field: "?"}).replace(b'"?"', text)


NOTICE = events.PlayerNotifyIllegalMove(Mark.X, errors.IllegalMoveReason.CELL_TAKEN)

WRONG: dict[str, tuple[object, ...]] = {
    "version": (-1, 1, False, 2**63),
    "at": (-1, 2**64, str(NOW)),
    "game": ("", "\x1b[2J", "\ud800", "a" * 65, ["bad"]),
    "key": ("a\nb", "k" * MAX_LINE_BYTES, 7),
    "events": ([], CREATED["events"][0], [{"schema": 1}], ["gameCreated"]),
    "hash": ("00", "g" * 64, LINK.upper(), f" {LINK[1:]}", 7),
}
MALFORMED: dict[str, bytes] = {
    **{
        f"{field} {str(value)[:20]!a}": line_with(**{field: value})
        for field, values in WRONG.items()
        for value in values
    },
    **{
        f"the line {line[:20]!a}": line
        for line in (b"hello\n", b"\n", b"[]\n", b"7\n", b"null\n", b"{}\n", ROWS[0][:40])
    },
    "a very long line": b"x" * 10_000_000,
    "a long line of spaces": b" " * MAX_LINE_BYTES + ROWS[0],
    "two on one line": ROWS[0].strip() + ROWS[1],
    "not UTF-8": ROWS[0].replace(b"bad", b"b\xff\xfe"),
    "UTF-16": ROWS[0].decode().encode("utf-16"),
    "a byte order mark": b"\xef\xbb\xbf" + ROWS[0],
    "a zero byte": b"\0" + ROWS[0],
    "deep lists": b"[" * 900_000 + b"\n",
    "deep objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"\n",
    "a deep event": numbered(b"[" * 800 + b"]" * 800, "events"),
    "NaN": numbered(b"NaN", "at"),
    "infinity": numbered(b"-Infinity"),
    "a large float": numbered(b"1e999"),
    "a float": numbered(b"0.0"),
    "a very large number": numbered(b"9" * 5_000),
    "version 0 in the old format": OLD[0].replace(b'"version":1', b'"version":0'),
    "version 2 at first in the old format": OLD[1],
    "a version twice": ROWS[0] * 2,
    "a version left out": ROWS[0] + ROWS[2],
    "versions turned round": ROWS[0] + ROWS[2] + ROWS[1],
    "a field too many": line_with(more=1),
    "both formats in one line": line_with(event=CREATED["events"][0]),
    "the old format after the new one": ROWS[0] + OLD[2],
    "the new format after the old one": b"".join(OLD[:2]) + ROWS[1],
    **{f"no {field}": line_with(**{field: ...}) for field in CREATED},
    **{f"{field} twice": twice(ROWS[0], field) for field in (*CREATED, "first")},
    "a mark that is none": with_event(first="Y"),
    "lines of two games mixed": ROWS[0] + written("b", *WON) + b"".join(ROWS[1:]),
    "the same game twice": written("b", *WON) + b"".join(ROWS) + written("b", *WON),
    "a game that came before": GOOD,
}
UNKNOWN: dict[str, bytes] = {
    "an unknown event": with_event(event="gameBurnt"),
    "an unknown schema": with_event(schema=2),
}
BROKEN: dict[str, bytes] = {
    "another hash": line_with(hash="0" * 64),
    "another time": line_with(at=NOW + 1),
    "another key": line_with(key="another"),
    "another game": line_with(game="another"),
    "another event": with_event(first="O"),
    "an event left out": line_with(events=CREATED["events"][1:]),
    "another time in the old format": OLD[0].replace(b'"at":17', b'"at":18'),
    "another version in the hash of the old format": OLD[0].replace(
        json.loads(OLD[0])["hash"].encode(), LINK.encode()
    ),
}
IMPOSSIBLE: dict[str, bytes] = {
    "a notice to one player": written("bad", *game_of("5"), [NOTICE]),
    "no beginning": written("bad", *WON[1:]),
    "half a command": written("bad", *WON[:-1], WON[-1][:-1]),
    "half a command in the old format": b"".join(OLD[:-1]),
    "a move after the end": written("bad", *WON, game_of("5")[1]),
    "a win out of nothing": written("bad", *game_of(""), [events.GameWon(Mark.X)]),
    "a seat taken twice": written("bad", *game_of("", "Ann"), [events.PlayerJoined(Mark.X, "Eve")]),
}
HOSTILE: dict[str, tuple[bytes, type[errors.RecordError]]] = {
    what: (lines, kind)
    for kind, table in (
        (errors.MalformedRecord, MALFORMED),
        (errors.UnknownEvent, UNKNOWN),
        (errors.BrokenChain, BROKEN),
        (errors.ImpossibleHistory, IMPOSSIBLE),
    )
    for what, lines in table.items()
}


SENTENCES = {
    "a very long line": "a line has at most 1048576 bytes",
    "a field too many": "a line is an object of game, version, at, key, events, hash, unlike",
    "at twice": "a field is given twice",
    "version 'False'": "version must be a number from 0 to",
    "at '-1'": "at must be a number from 0 to",
    "NaN": "NaN is not JSON",
    "game '\\x1b[2J'": "the id of a game has 1 to 64",
    "key 'a\\nb'": "the id of a command has 1 to 64",
    "not UTF-8": "the line is not UTF-8",
    "the line b'\\n'": "'' is not JSON",
    "a version left out": "expected version 3 of game bad, not 6",
    "the same game twice": "the lines of game b are not together",
    "the old format after the new one": "game bad mixes the old format and the new one",
    "an unknown event": "no event is called 'gameBurnt'",
    "an unknown schema": "schema 2 is unknown",
    "another event": "the hash doesn't follow from the lines of game bad before it",
    "half a command": "game bad: the history stops after event",
    "a notice to one player": "playerNotifyIllegalMove is not part of a game's record",
}
assert {*SENTENCES} <= {*HOSTILE}


@pytest.mark.parametrize("place", ["alone", "after others", "between others"])
@pytest.mark.parametrize("what", HOSTILE)
def test_a_bad_file_is_refused_as_a_whole(what: str, place: str) -> None:
    """Nothing of it is recorded; a sentence that can be printed names the line, or the game."""
    bad, kind = HOSTILE[what]
    before = GOOD if place != "alone" or what == "a game that came before" else b""
    after = written("later", *WON) if place == "between others" else b""
    if not bad.endswith(b"\n") and after:
        bad += b"\n"
    if what == "lines of two games mixed":
        kind = errors.RecordError
    with MemoryStore() as store:
        with pytest.raises(kind) as refusal:
            import_lines(store, BytesIO(before + bad + after))

        sentence = str(refusal.value)
        assert sentence.isprintable()
        assert len(sentence) < 300
        assert SENTENCES.get(what, "") in sentence
        if sentence.startswith("line "):
            number = int(sentence.removeprefix("line ").partition(":")[0])
            assert before.count(b"\n") < number <= (before + bad).count(b"\n") + 1
        else:
            assert sentence.startswith("game bad: ")
            assert kind in (errors.ImpossibleHistory, errors.RecordError)
        assert feed_of(store) == []
        assert store.games() == ()


@pytest.mark.parametrize("what", ["a float", "another hash", "half a command", "a very long line"])
def test_no_kind_of_store_records_anything_of_a_bad_file(store: EventStore, what: str) -> None:
    fill(store)
    before = feed_of(store)
    with pytest.raises(errors.RecordError):
        import_lines(store, BytesIO(GOOD + HOSTILE[what][0]))

    assert feed_of(store) == before
    verify(store)


def test_the_line_at_fault_is_named() -> None:
    lines = GOOD.splitlines(keepends=True)
    for number in range(1, len(lines) + 1):
        bad = [*lines]
        bad[number - 1] = b"?\n"
        with pytest.raises(errors.MalformedRecord, match=rf"^line {number}: '\?' is not JSON$"):
            import_lines(MemoryStore(), BytesIO(b"".join(bad)))


def test_a_game_that_differs_is_refused(store: EventStore, source: EventStore) -> None:
    play(store, "given-up", game_of("59"), at=NOW + 4000)
    before = feed_of(store)
    with pytest.raises(errors.BrokenChain, match="game given-up differs in the store from version 6 on"):
        import_lines(store, BytesIO(exported(source)))

    assert feed_of(store) == before


@pytest.mark.torture
@settings(max_examples=EXAMPLES)
@given(seed=st.integers(0, 2**32), count=st.integers(1, 3), write=st.sampled_from([exported, old_export]))
def test_a_damaged_file_is_never_imported_in_part(
    seed: int, count: int, write: Callable[[EventStore], bytes]
) -> None:
    """Either nothing is recorded, or games that are complete, with the hashes that they had."""
    with MemoryStore() as source, MemoryStore() as target:
        fill(source)
        right = {*feed_of(source)}
        damaged = bytearray(write(source))
        chance = Random(seed)
        for _ in range(count):
            damage(damaged, chance)
        try:
            imported = import_lines(target, BytesIO(bytes(damaged)))
        except errors.RecordError as refusal:
            assert str(refusal).isprintable()
            assert feed_of(target) == []
        else:
            assert imported.events == total(target)
            assert {*feed_of(target)} <= right
            verify(target)


def damage(content: bytearray, chance: Random) -> None:
    """Flip a bit, or cut out, double, move or overwrite a piece, or a whole line."""
    at = chance.randrange(len(content))
    end = at + chance.choice((1, 1, 10, 300))
    if chance.random() < 0.3:  # whole lines
        at = content.rfind(b"\n", 0, at) + 1
        end = content.find(b"\n", min(end, len(content) - 1)) + 1
    piece = content[at:end]
    kind = chance.choice(("flip", "cut", "double", "move", "overwrite", "truncate"))
    if kind == "flip":
        content[at] ^= 1 << chance.randrange(8)
    elif kind == "truncate":
        del content[at:]
    else:
        new = {"double": 2 * piece, "overwrite": chance.randbytes(len(piece))}
        content[at:end] = new.get(kind, b"")
        there = chance.randrange(len(content) + 1)
        content[there:there] = piece if kind == "move" else b""
    if not content:
        content += b"\n"


# Copies


def between_pages(
    store: EventStore, monkeypatch: pytest.MonkeyPatch, do: Callable[[], object], size: int = 10
) -> None:
    """Let something happen after each page of the feed that is read."""
    monkeypatch.setattr(backups, "PAGE_ROWS", size)
    feed = store.feed

    def read(after: str, limit: int) -> tuple[tuple[Record, ...], str]:
        page = feed(after, limit)
        do()
        return page

    monkeypatch.setattr(store, "feed", read)


@pytest.mark.parametrize("page", [1000, 5])
def test_a_backup_equals_the_store(
    store: EventStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: int
) -> None:
    monkeypatch.setattr(backups, "PAGE_ROWS", page)
    fill(store)
    play(store, "deleted", WON)
    store.delete("deleted", at=NOW)
    for number in range(12):
        store.write_document(f"document{number}", "text", expected=0, label="label")
    store.write_document("document3", "more", expected=1)
    target = tmp_path / "copies" / "copy.db"

    assert backup(store, str(target)) == Copied(games=6, events=total(store))
    assert {each.name for each in target.parent.iterdir()} == {"copy.db", "copy.db-checkpoint"}
    with SQLiteStore(str(target), create=False) as copy:
        assert feed_of(copy) == [record for record in feed_of(store) if not record.is_deletion]
        assert copy.games() == store.games()
        assert copy.changed_documents()[0] == store.changed_documents()[0]
        assert copy.labelled("label") == store.labelled("label")
        verify(copy)
        play(copy, "new", game_of(O_WINS))
        assert copy.write_document("document2", "new", expected=1).revision == 2
    assert store.read("new") == ()


def test_a_backup_of_nothing_is_an_empty_store(store: EventStore, tmp_path: Path) -> None:
    assert backup(store, str(tmp_path / "copy.db")) == Copied(0, 0)
    with SQLiteStore(str(tmp_path / "copy.db"), create=False) as copy:
        assert feed_of(copy) == []


def test_a_backup_leaves_out_a_game_whose_deletion_the_feed_shows_late(
    store: EventStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On PostgreSQL a game is deleted at once, and the feed says so once older transactions end."""
    fill(store)
    between_pages(store, monkeypatch, lambda: store.delete("won", at=NOW), size=1000)
    copied = backup(store, str(tmp_path / "copy.db"))
    monkeypatch.undo()

    assert copied == Copied(games=5, events=total(store))
    with SQLiteStore(str(tmp_path / "copy.db"), create=False) as copy:
        assert copy.games() == store.games()
        verify(copy)


def test_a_backup_while_others_write_is_whole(
    store: EventStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has what was there when it began, without what was deleted meanwhile, and it ends."""
    fill(store)
    before = feed_of(store)
    names = iter(range(1000))

    def play_and_delete() -> None:
        play(store, f"during{next(names)}", game_of(""))
        if store.read("won"):
            store.delete("won", at=NOW)

    between_pages(store, monkeypatch, play_and_delete)
    copied = backup(store, str(tmp_path / "copy.db"))
    monkeypatch.undo()
    with SQLiteStore(str(tmp_path / "copy.db")) as copy:
        assert tuple(copied) == verify(copy)[:2]
        found = {record for record in feed_of(copy) if not record.is_deletion}
        assert {record for record in before if record.game != "won"} <= found <= {*feed_of(store)}
        assert copy.read("won") == ()


@pytest.mark.parametrize("taken", ["copy.db", "copy.db.partial"])
def test_a_backup_overwrites_nothing(source: EventStore, tmp_path: Path, taken: str) -> None:
    (tmp_path / taken).write_bytes(b"precious")
    with pytest.raises(errors.StoreUnavailable, match=r"never overwrite|left from an interrupted copy"):
        backup(source, str(tmp_path / "copy.db"))

    assert (tmp_path / taken).read_bytes() == b"precious"
    assert [each.name for each in tmp_path.iterdir()] == [taken]


def test_a_backup_does_not_overwrite_what_came_meanwhile(
    source: EventStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "copy.db"
    between_pages(source, monkeypatch, lambda: target.write_bytes(b"precious"))
    with pytest.raises(errors.StoreUnavailable):
        backup(source, str(target))

    assert target.read_bytes() == b"precious"
    assert {each.name for each in tmp_path.iterdir()} <= {"copy.db", "copy.db-checkpoint"}


@pytest.mark.parametrize("name", ["copy.db", "copy[1].db", "copy?.db", "c*.db", "copi\u00e9.db"])
def test_a_backup_that_fails_leaves_nothing_behind(
    source: EventStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """No part of a copy stays, and the files of others do, however the name is spelled."""
    others = {
        tmp_path / other for other in (f"{name}.partial.txt", f"{name}.partial~", "copy1.db.partial")
    }
    for other in others:
        other.write_bytes(b"precious")

    def fail() -> None:
        raise errors.CorruptStore("something has changed")

    between_pages(source, monkeypatch, fail)
    with pytest.raises(errors.CorruptStore, match="something has changed"):
        backup(source, str(tmp_path / name))
    assert {*tmp_path.iterdir()} == others

    monkeypatch.undo()
    backup(source, str(tmp_path / name))
    assert {*tmp_path.iterdir()} == {*others, tmp_path / name, tmp_path / f"{name}-checkpoint"}
    assert {other.read_bytes() for other in others} == {b"precious"}


@pytest.mark.parametrize("where", ["file/copy.db", "folder"])
def test_a_backup_that_cannot_be_written_is_refused(
    source: EventStore, tmp_path: Path, where: str
) -> None:
    (tmp_path / "file").write_bytes(b"precious")
    (tmp_path / "folder").mkdir()
    with pytest.raises(errors.StoreError):
        backup(source, str(tmp_path / where))

    assert sorted(each.name for each in tmp_path.rglob("*")) == ["file", "folder"]
    assert (tmp_path / "file").read_bytes() == b"precious"


def test_a_backup_of_a_damaged_store_is_refused(tmp_path: Path) -> None:
    with SQLiteStore(str(tmp_path / "games.db")) as store:
        fill(store)
    change = "UPDATE noughts_records SET at = at + 1 WHERE game = 'lost' AND version = 4"
    Place(f"sqlite:{tmp_path / 'games.db'}").do(change)
    with (
        SQLiteStore(str(tmp_path / "games.db")) as store,
        pytest.raises(errors.CorruptStore, match="version 4 of game 'lost' has changed"),
    ):
        backup(store, str(tmp_path / "copy.db"))

    assert [*tmp_path.glob("copy*")] == []


# Restored on a server


def test_a_backup_is_restored_into_an_empty_database(
    source: EventStore, tmp_path: Path, postgres_url: str
) -> None:
    """With its documents, in one commit; a database with games in it is refused and left alone."""
    source.write_document("document", "text", expected=0)
    backup(source, str(tmp_path / "copy.db"))

    restored = restore(str(tmp_path / "copy.db"), postgres_url)

    assert restored == (Copied(6, total(source)), None, ())
    with open_store(postgres_url) as store:
        assert {*feed_of(store)} == {*feed_of(source)}
        assert store.document("document") == source.document("document")
        verify(store)
        before = feed_of(store)
    with pytest.raises(errors.StoreUnavailable, match="the store is not empty"):
        restore(str(tmp_path / "copy.db"), postgres_url)
    with open_store(postgres_url) as store:
        assert feed_of(store) == before


def test_a_database_is_repaired_into_a_file(postgres_url: str, tmp_path: Path) -> None:
    with open_store(postgres_url) as store:
        fill(store)
        store.write_document("document", "text", expected=0)
    Place(postgres_url).do("UPDATE noughts_records SET at = at + 1 WHERE game = 'lost' AND version = 3")

    repaired = repair(postgres_url, str(tmp_path / "copy.db"))

    assert repaired.copied.games == 5
    assert [line.partition(":")[0] for line in repaired.left_behind] == ["game 'lost'"]
    with SQLiteStore(str(tmp_path / "copy.db"), create=False) as copy:
        assert verify(copy).games == 5
        assert copy.document("document")
