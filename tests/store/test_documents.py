"""What every store promises about documents, tested on each engine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from noughts.core.errors import MalformedRecord
from noughts.store.appends import append_of
from noughts.store.archive import export_all, import_lines
from noughts.store.backups import backup
from noughts.store.base import EventStore
from noughts.store.documents import MAX_TEXT_BYTES, Document, DocumentJudge, Write, document_row
from noughts.store.errors import CorruptStore, StaleVersion
from noughts.store.memory import MemoryStore
from noughts.store.records import MAX_ID_CHARACTERS
from noughts.store.urls import open_store
from noughts.store.verify import verify
from support.at_once import in_processes, in_threads, run_code
from support.damages import Place
from support.deadlines import LONG_DEADLINE_SECONDS
from support.length import short_or_long
from support.played import CREATED, NOW, documents_of, feed_of, fill, play
from support.store_games import everything

REVISIONS = short_or_long(50, 500)

FAR = 2**63
"""A number that is beyond everything in a store, and too large for any column."""


def named(documents: list[Document] | tuple[Document, ...]) -> list[str]:
    return [document.name for document in documents]


# Writing and reading


def test_what_was_written_is_read_back(store: EventStore) -> None:
    first = store.write_document("one", "a text", expected=0)
    other = store.write_document("two", "", expected=0, label="open")
    again = store.write_document("one", "another", expected=1, label="open")

    assert first[:4] == ("one", 1, "", "a text")
    assert other[:4] == ("two", 1, "open", "")
    assert again[:4] == ("one", 2, "open", "another")
    assert len({first.key, other.key, again.key}) == 3
    assert [store.document(name) for name in ("one", "two", "three")] == [again, other, None]
    assert {*store.documents_named(["two", "one", "three"])} == {again, other}
    assert store.documents_named([]) == ()
    verify(store)


def test_documents_are_there_when_the_store_is_opened_again(open_again: Callable[[], EventStore]) -> None:
    store, beside = open_again(), open_again()
    document = store.write_document("document", "text", expected=0, label="open")
    assert beside.document("document") == document
    store.close()
    beside.close()

    assert open_again().labelled("open") == (document,)


@pytest.mark.parametrize("expected", [0, 1, 3, FAR])
def test_a_write_at_another_revision_is_refused(store: EventStore, expected: int) -> None:
    """Too early or too late, even with the same text; a new document starts at revision 0."""
    store.write_document("name", "first", expected=0)
    document = store.write_document("name", "second", expected=1)

    with pytest.raises(
        StaleVersion, match=rf"^document name is at revision 2, not at {expected}: nothing"
    ):
        store.write_document("name", "second", expected=expected)
    with pytest.raises(StaleVersion, match="document new is at revision 0, not at 1:"):
        store.write_document("new", "text", expected=1)
    with pytest.raises(StaleVersion, match="no document is at revision -1"):
        store.write_document("name", "third", expected=-1)

    assert documents_of(store) == [document]


def test_writes_in_one_commit_are_judged_each_alone(store: EventStore) -> None:
    store.write_document("there", "before", expected=0)
    writes = [
        Write("new", "one", expected=0),
        Write("there", "too early", expected=2),
        Write("there", "after", expected=1, label="open"),
        Write("there", "too late", expected=1),
        Write("new", "two", expected=1),
        Write("other", "three", expected=0),
    ]
    append = append_of("game", 0, CREATED, key="key", at=NOW)
    store.record([*writes[:3], append, *writes[3:]])

    assert [type(write.refusal) for write in writes if write.refusal] == [StaleVersion] * 2
    assert [write.document.text for write in writes if write.refusal] == ["too early", "too late"]
    assert [store.document(name) for name in ("there", "new", "other")] == [
        writes[2].document,
        writes[4].document,
        writes[5].document,
    ]
    assert append.refusal is None
    assert store.versions(["game"]) == {"game": 3}
    verify(store)


def test_writes_that_are_retried_are_written_once(store: EventStore) -> None:
    """After an unknown outcome, a write finds its own key, and counts as success."""
    writes = [Write("one", "text", expected=0), Write("two", "text", expected=0)]
    store.record(writes[:1])
    store.record(writes)
    cursor = store.documents_end()
    store.record(writes)

    assert [write.refusal for write in writes] == [None, None]
    assert documents_of(store) == [write.document for write in writes]
    assert documents_of(store, cursor) == []


def test_a_damaged_document_refuses_its_own_writes_only() -> None:
    damaged = (*document_row(Document("bad", 1, "", "text", "key"))[:5], b"wrong")
    judge = DocumentJudge([damaged])
    bad, good = Write("bad", "new", expected=1), Write("good", "new", expected=0)

    assert [judge.accept(bad), judge.accept(good)] == [False, True]
    assert isinstance(bad.refusal, CorruptStore)
    assert [row[0] for row in judge.rows] == ["good"]


# What is refused


@pytest.mark.parametrize(
    "text",
    [
        "a\0b",
        "\ud800",
        "a" * (MAX_TEXT_BYTES + 1),
        "\xe4" * (MAX_TEXT_BYTES // 2) + "a",
        None,
        7,
        b"text",
    ],
    ids=lambda value: ascii(value)[:20],
)
def test_a_bad_text_is_refused(store: EventStore, text: Any) -> None:  # noqa: ANN401 - anything else is refused
    """One that is too long, and one that some engine could not return as it was."""
    with pytest.raises(MalformedRecord, match=r"^a document ") as refusal:
        store.write_document("name", text, expected=0)

    assert str(refusal.value).isprintable()
    assert store.document("name") is None


@pytest.mark.parametrize(
    "text",
    [
        "a" * MAX_TEXT_BYTES,
        "\xe4" * (MAX_TEXT_BYTES // 2),
        "'%s' \"?\" \\x00 \r\n\t\x1b[2J\x7f",
        "\u540d\U0001f600",
    ],
    ids=lambda value: ascii(value)[:20],
)
def test_a_text_is_kept_as_it_is(store: EventStore, text: str) -> None:
    document = store.write_document(
        "a" * MAX_ID_CHARACTERS, text, expected=0, label="b" * MAX_ID_CHARACTERS
    )

    assert document.text == text
    assert store.document("a" * MAX_ID_CHARACTERS) == document
    assert store.labelled("b" * MAX_ID_CHARACTERS) == (document,)


# Labels and changes


def test_a_label_lists_the_last_changed_first(store: EventStore) -> None:
    for number in range(6):
        store.write_document(f"n{number}", "text", expected=0, label=("even", "odd")[number % 2])
    store.write_document("n0", "changed", expected=1, label="even")
    store.write_document("n2", "gone", expected=1)
    store.write_document("n4", "moved", expected=1, label="odd")

    assert named(store.labelled("even")) == ["n0"]
    assert named(store.labelled("odd")) == ["n4", "n5", "n3", "n1"]
    assert named(store.labelled("odd", limit=2)) == ["n4", "n5"]
    assert store.labelled("odd", limit=0) == store.labelled("odd", limit=-1) == store.labelled("no") == ()
    store.record([Write(f"m{number:02}", "", expected=0, label="open") for number in range(60)])
    assert len(store.labelled("open", limit=FAR)) == 60
    assert store.labelled("open") == store.labelled("open", limit=60)[:50]


def test_changes_are_paged_with_each_document_once(store: EventStore) -> None:
    """In the order of their last changes, as they are now, after any cursor, in pages of every size."""
    assert store.changed_documents() == ((), "")
    ends, written = [store.documents_end()], []
    for number in range(11):
        written.append(store.write_document(f"n{number % 4}", str(number), expected=number // 4))
        play(store, f"game{number}", [CREATED])
        ends.append(store.documents_end())
    latest = written[-4:]

    for limit in (1, 2, 3, 4, 5, FAR):
        assert documents_of(store, limit=limit) == latest
    for number, end in enumerate(ends):
        assert documents_of(store, end) == [one for one in latest if written.index(one) >= number]
    assert store.changed_documents(ends[3], 0) == store.changed_documents(ends[3], -1) == ((), ends[3])
    assert store.changed_documents(ends[-1]) == ((), ends[-1])


# Many at once


def test_one_of_eight_at_one_revision_wins(store: EventStore) -> None:
    for revision in range(10):
        texts = [f"{revision} by {rival if revision % 2 else 'all'}" for rival in range(8)]
        outcomes = in_threads(
            *(partial(store.write_document, "name", text, expected=revision) for text in texts)
        )

        winners = [outcome for outcome in outcomes if isinstance(outcome, Document)]
        assert winners == [store.document("name")]
        assert sum(isinstance(outcome, StaleVersion) for outcome in outcomes) == 7
        assert winners[0].text == texts[outcomes.index(winners[0])]


def test_two_store_objects_count_up_one_document(open_again: Callable[[], EventStore]) -> None:
    stores = open_again(), open_again()

    def count(store: EventStore) -> None:
        counted = 0
        while counted < 5:
            document = store.document("count")
            revision = document.revision if document else 0
            try:
                store.write_document("count", str(revision + 1), expected=revision)
            except StaleVersion:
                continue
            counted += 1

    in_threads(*[partial(count, store) for store in stores * 4])

    document = stores[0].document("count")
    assert document == stores[1].document("count")
    assert document
    assert (document.revision, document.text) == (40, "40")


def test_a_reader_of_the_changes_misses_none(open_again: Callable[[], EventStore]) -> None:
    """Two store objects write documents and records; the reader goes on from its last cursor."""
    stores, reader = (open_again(), open_again()), open_again()
    last = {f"n{number}": 6 for number in range(8)}

    def write(number: int) -> None:
        store = stores[number % 2]
        for revision in range(6):
            store.write_document(f"n{number}", str(revision), expected=revision, label="open")
            play(store, f"game{number}-{revision}", [CREATED])

    def follow() -> list[Document]:
        changes, seen, cursor = reader.changes(), list[Document](), ""
        while {document.name: document.revision for document in seen} != last:
            page, cursor = reader.changed_documents(cursor, 3)
            seen += page
            if not page:
                changes.wait(LONG_DEADLINE_SECONDS)
        return seen

    seen, *_ = in_threads(follow, *(partial(write, number) for number in range(8)))

    assert isinstance(seen, list)
    assert len({document[:2] for document in seen}) == len(seen)
    assert {*seen[-8:]} <= {*seen}
    assert {*documents_of(stores[1])} == {*stores[0].documents_named(last)}
    assert {document.name: document.revision for document in documents_of(reader)} == last
    everything(stores[1])
    verify(stores[0])


def test_documents_and_records_share_commits(store: EventStore) -> None:

    def write_documents(number: int) -> None:
        for revision in range(10):
            store.write_document(f"n{number}", "text", expected=revision)

    def write_games(number: int) -> None:
        for game in range(10):
            play(store, f"g{number}-{game}", [CREATED])

    works = (write_documents, write_games)
    in_threads(*(partial(work, number) for number in range(4) for work in works))

    assert [document.revision for document in documents_of(store)] == [10] * 4
    assert len(everything(store)) == 40


# Copies


def test_a_backup_while_documents_change_ends(
    store: EventStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A document that changes after its page was copied comes again: the copy is of one moment."""
    monkeypatch.setattr("noughts.store.backups.PAGE_ROWS", 3)
    store.record([Write(f"n{number}", "old", expected=0) for number in range(8)])
    changed = store.changed_documents
    moments: list[tuple[Document, ...]] = []

    def changed_and_write(after: str, limit: int) -> tuple[tuple[Document, ...], str]:
        found = changed(after, limit)
        moments.append(changed()[0])
        store.write_document("n0", "new", expected=len(moments))
        return found

    monkeypatch.setattr(store, "changed_documents", changed_and_write)
    backup(store, str(tmp_path / "copy.db"))

    with open_store(f"sqlite:{tmp_path / 'copy.db'}", create=False) as copy:
        assert copy.changed_documents()[0] == moments[-1]


def test_documents_are_restored_as_they_were(store: EventStore) -> None:
    """Page after page, also where a document comes again, and writes follow on them."""
    one, two = Document("one", 3, "", "a", "k1"), Document("two", 1, "open", "b", "k2")
    newer = Document("one", 5, "open", "c", "k3")
    for _ in range(2):  # a repeated restore changes nothing
        store.restore([], [one, two])
    assert documents_of(store) == [one, two]
    store.restore([], [newer])
    store.restore([], [])
    with pytest.raises(StaleVersion, match="document one is at revision 5 already"):
        store.restore([], [two, one])

    assert documents_of(store) == [two, newer]
    assert store.labelled("open") == (newer, two)
    assert store.write_document("two", "d", expected=1).revision == 2
    verify(store)


def test_an_export_has_no_documents() -> None:
    """An export is games: its importer doesn't get other people's seats."""
    with MemoryStore() as store, MemoryStore() as target:
        fill(store)
        store.write_document("name", "text", expected=0)
        import_lines(target, BytesIO("".join(export_all(store)).encode()))

        assert feed_of(target)
        assert documents_of(target) == []


# Changed behind the store's back


@pytest.fixture
def filled(url: str) -> str:
    with open_store(url) as store:
        store.record([Write(f"d{number}", "text", expected=0, label="open") for number in range(5)])
    return url


CHANGES = {
    "the text": "text = text || 'x'",
    "its case": "text = 'Text'",
    "the label": "label = 'closed'",
    "the revision": "revision = revision + 1",
    "the key": "key = 'another'",
    "the hash": "hash = (SELECT hash FROM noughts_documents WHERE name = 'd1')",
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_changed_document_is_neither_read_nor_written(filled: str, what: str) -> None:
    """It is named; the others are read and written as before, even in the same commit."""
    Place(filled).do(f"UPDATE noughts_documents SET {CHANGES[what]} WHERE name = 'd3'")  # noqa: S608 - the above
    with open_store(filled) as store:
        calls: list[Callable[[], object]] = [
            lambda: store.document("d3"),
            store.changed_documents,
            lambda: store.write_document("d3", "new", expected=1),
            lambda: store.labelled("closed" if what == "the label" else "open"),
            lambda: verify(store),
        ]
        for call in calls:
            with pytest.raises(CorruptStore, match="document 'd3' has changed since it was written"):
                call()
        writes = [Write("d3", "new", expected=1), Write("d4", "new", expected=1)]
        store.record(writes)
        assert isinstance(writes[0].refusal, CorruptStore)
        assert store.document("d4") == writes[1].document
        assert store.document("d2")


def test_a_renamed_document_is_noticed(filled: str) -> None:
    Place(filled).do("UPDATE noughts_documents SET name = 'another' WHERE name = 'd3'")
    with open_store(filled) as store:
        assert store.document("d3") is None
        for call in (lambda: store.document("another"), lambda: verify(store)):
            with pytest.raises(CorruptStore, match="document 'another' has changed since it was written"):
                call()


@pytest.mark.parametrize(
    "change",
    ["text = CAST(text AS BLOB)", "text = CAST(x'FF' AS TEXT)", "revision = x'31'", "hash = 'x'"],
)
def test_a_value_of_another_type_is_noticed(sqlite_url: str, change: str) -> None:
    """SQLite keeps values of any type in any column; some would read the same."""
    with open_store(sqlite_url) as store:
        store.write_document("document", "text", expected=0)
    Place(sqlite_url).do(f"UPDATE noughts_documents SET {change}")  # noqa: S608 - the above
    with open_store(sqlite_url) as store:
        for call in (lambda: store.document("document"), lambda: verify(store)):
            with pytest.raises(CorruptStore):
                call()


# Two processes want the same revisions of one document; each prints those that it has written.
RIVAL = f"""
import sys
sys.path[:0] = {sys.path!r}
from noughts.store.errors import StaleVersion
from noughts.store.urls import open_store

url, me, revisions = sys.argv[1], sys.argv[2], int(sys.argv[3])
with open_store(url) as store:
    print("ready", flush=True)
    sys.stdin.readline()
    won, document = [], None
    while document is None or document.revision < revisions:
        try:
            document = store.write_document("document", me, expected=document.revision if document else 0)
            won.append(document.revision)
        except StaleVersion:
            document = store.document("document")
print(*won, flush=True)
"""


@pytest.mark.torture
def test_one_of_two_processes_wins_each_revision(url: str) -> None:
    open_store(url).close()
    commands = [[sys.executable, "-c", RIVAL, url, me, str(REVISIONS)] for me in ("one", "two")]
    won = [[*map(int, printed.split())] for printed in in_processes(*commands)]

    revisions = sorted(revision for mine in won for revision in mine)
    assert revisions == [*range(1, len(revisions) + 1)]
    assert len(revisions) >= REVISIONS
    with open_store(url) as store:
        last = store.document("document")
        assert last
        assert (last.revision, last.text) == (revisions[-1], "one" if revisions[-1] in won[0] else "two")
        verify(store)


# Ctrl-C arrives at each place of a commit in memory where Python delivers it. Reading the heads is left
# out: an exception raised by a tracer after the last call of a `with` block leaves the lock taken, while
# a signal is still delivered within the block.
INTERRUPTED = f"""
import sys
sys.path[:0] = {sys.path!r}
from noughts.store import memory
from noughts.store.appends import append_of
from noughts.store.documents import Write
from noughts.store.verify import verify
from noughts import CreateGame, decide
from support.interrupts import Interrupt

CREATED = decide(None, CreateGame())
step, broken = 0, []
while True:
    step += 1
    store = memory.MemoryStore()
    store.record([Write(name, "before", expected=0) for name in "abc"])
    store.append("old", CREATED, expected=0, key="key", at=0)
    before = store.changed_documents()[0]
    writes = [Write(name, "after", expected=seen) for name, seen in (("a", 1), ("b", 1), ("d", 0))]
    room = Write("e", "room", expected=0)
    items = [append_of("new", 0, CREATED, key="key", at=0, document=room), *writes]
    interrupt = Interrupt(memory, step, without=["_heads"])
    try:
        store.record(items)
        store.delete("old", at=1)
    except KeyboardInterrupt:
        pass
    sys.settrace(None)
    documents = store.changed_documents()[0]
    after = (before[2], *(write.document for write in writes), room.document)
    is_done = documents == after and store.versions(["new"]) == {{"new": 3}}
    is_missing = documents == before and store.versions(["new"]) == {{}}
    if not is_done and not is_missing:
        broken.append((step, documents))
    store.record(items)
    if any(item.refusal for item in items) or store.changed_documents()[0] != after:
        broken.append((step, "again"))
    if bool(store.read("old")) != (len(store.games()) == 2) or len(store.feed()[0]) != 2:
        broken.append((step, "delete"))
    verify(store)
    if interrupt.left > 0:
        break
print(step > 5, broken)
"""


def test_an_interrupted_commit_in_memory_is_done_or_not_begun() -> None:
    """Wherever Ctrl-C arrives, a record is there with its document, or neither is."""
    ran = run_code(INTERRUPTED)

    assert ran.stdout == "True []\n", ran.stderr
