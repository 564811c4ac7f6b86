"""Documents that are changed behind the store's back, and processes that want the same revisions."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

import psycopg
import pytest

from noughts.store.documents import Write
from noughts.store.errors import CorruptStore
from noughts.store.urls import open_store
from noughts.store.verify import verify
from support.at_once import DEADLINE

if TYPE_CHECKING:
    from collections.abc import Callable

REVISIONS = 500 if os.environ.get("NOUGHTS_TORTURE") else 50


def execute(url: str, statement: str) -> None:
    """Change something with the tools of the database."""
    if url.startswith("sqlite:"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:"))) as database:
            database.execute(statement)
            database.commit()
    else:
        with psycopg.connect(url) as connection:
            connection.execute(statement.encode())


@pytest.fixture
def filled(url: str) -> str:
    """Return the URL of a store with a few documents."""
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
    execute(filled, f"UPDATE noughts_documents SET {CHANGES[what]} WHERE name = 'd3'")  # noqa: S608 - the above
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
    """By every read that comes upon it."""
    execute(filled, "UPDATE noughts_documents SET name = 'another' WHERE name = 'd3'")
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
    """SQLite keeps values of any type in any column, some of which would read the same."""
    with open_store(sqlite_url) as store:
        store.write_document("document", "text", expected=0)
    execute(sqlite_url, f"UPDATE noughts_documents SET {change}")  # noqa: S608 - the above
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
    """No revision is written twice, and none is left out."""
    open_store(url).close()
    with ExitStack() as stack:
        rivals = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", RIVAL, url, me, str(REVISIONS)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            for me in ("one", "two")
        ]
        for rival in rivals:
            assert rival.stdout
            assert rival.stdout.readline() == "ready\n"
        for rival in rivals:
            assert rival.stdin
            rival.stdin.write("go\n")
            rival.stdin.flush()
        won = [[*map(int, rival.communicate(timeout=DEADLINE)[0].split())] for rival in rivals]

    revisions = sorted(revision for mine in won for revision in mine)
    assert revisions == [*range(1, len(revisions) + 1)]
    assert len(revisions) >= REVISIONS
    with open_store(url) as store:
        last = store.document("document")
        assert last
        assert (last.revision, last.text) == (revisions[-1], "one" if revisions[-1] in won[0] else "two")
        verify(store)
