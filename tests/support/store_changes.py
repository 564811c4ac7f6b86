"""Changes to a store for the torture tests (records, documents, deletions), and the resulting states."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from noughts.core.codec import loads
from noughts.store.appends import Append
from noughts.store.base import EventStore
from noughts.store.documents import Document, Write
from support.played import documents_of
from support.store_games import Row, everything, row_of, turns

DELETED_AT = 1_900_000_000_000
LABELS = ("", "open", "closed")


class State(NamedTuple):
    """What a store has of a game."""

    rows: tuple[Row, ...] = ()
    document: tuple[int, str, str] | None = None
    """Revision, label and text of the document with the game's name."""

    @property
    def is_deleted(self) -> bool:
        return bool(self.rows) and not self.rows[-1][4]


NOTHING = State()


class Change(NamedTuple):
    """One change of a game, and the state of the game afterwards."""

    game: str
    item: Append | Write | None
    """What is recorded; None deletes the game."""
    after: State

    def apply_to(self, store: EventStore) -> None:
        if self.item is None:
            store.delete(self.game, at=DELETED_AT)
            return
        store.record((self.item,))
        if self.item.refusal:
            raise self.item.refusal


def has_document(game: str) -> bool:
    """Return whether the game's first record is written together with a document."""
    return game.startswith("d")


def document_text(game: str, revision: int) -> str:
    """Return the text of a game's document, which may fill a page or more of a database."""
    return f"{game} {revision} " + "x" * (revision % 3 * 2500)


def new_game(chance: Random) -> str:
    """Return the id of a new game, with or without a document."""
    return f"{chance.choice('dg')}{chance.getrandbits(64):x}"


def changes(game: str, chance: Random, before: State = NOTHING) -> Iterator[Change]:
    """Play a game to its end; write its document now and then, and perhaps delete it."""
    state = before
    history = [loads(line) for row in state.rows for line in row[4].split("\n")]
    for turn in turns(game, chance, history):
        write = None
        if has_document(game) and (not state.rows or chance.random() < 0.2):
            write = _next_write(game, state, chance)
        state = State((*state.rows, turn.row), _document(write.document) if write else state.document)
        yield Change(game, turn.append(write), state)
        if has_document(game) and chance.random() < 0.2:
            write = _next_write(game, state, chance)
            state = state._replace(document=_document(write.document))
            yield Change(game, write, state)
    if chance.random() < 0.4:
        version = sum(len(row[4].split("\n")) for row in state.rows)
        yield Change(game, None, State(((game, version, DELETED_AT, "", ""),)))


def _next_write(game: str, state: State, chance: Random) -> Write:
    revision = state.document[0] if state.document else 0
    text = document_text(game, revision + 1)
    return Write(game, text, expected=revision, label=chance.choice(LABELS))


def _document(document: Document) -> tuple[int, str, str]:
    return document.revision, document.label, document.text


def states(store: EventStore) -> dict[str, State]:
    """Check that a store is intact; return the state of every game."""
    rows: dict[str, tuple[Row, ...]] = {}
    for record in everything(store):
        row = row_of(record)
        if record.is_deletion:
            row = (*row[:3], "", "")  # its key is chosen at random
        rows[record.game] = (*rows.get(record.game, ()), row)
    documents = all_documents(store)
    for label in filter(None, LABELS):
        labelled = store.labelled(label, len(documents) + 1)
        assert {document.name for document in labelled} == {
            name for name, (_, found, _) in documents.items() if found == label
        }
    return {name: State(rows.get(name, ()), documents.get(name)) for name in rows | documents}


def all_documents(store: EventStore) -> dict[str, tuple[int, str, str]]:
    documents = documents_of(store, limit=100)
    found = {document.name: _document(document) for document in documents}
    assert len(found) == len(documents)
    assert {one.name: _document(one) for one in store.documents_named(found)} == found
    return found
