"""Notes beside the games: small texts with a name, that may change.

Whoever changes a note says which revision of it they have seen, 0 for none, and exactly one of two who
have seen the same one wins. All changes of all notes stand in one order, that of their commits: whoever
asks what has changed since the last time misses nothing. A note is durable before its writing returns,
and is held against its hash whenever it is read.

Only the latest state of a note is kept: a note is no record of what happened.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from hashlib import sha256
from typing import NamedTuple

from noughts.core.errors import CorruptStore, MalformedRecord, NoughtsError, StaleVersion, quoted
from noughts.store.chain import LATEST, check_id, place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import TypeAlias

    from noughts.store.group import Group
    from noughts.store.watching import Bell

    Row: TypeAlias = tuple[str, int, int, str, str, bytes]
    """A note as an engine keeps it: its fields, and the hash over them."""
    Judge: TypeAlias = Callable[[Iterable[Row], int], list[Row]]
    """From the notes that are there, and the place of the last change, to what is to be written."""

LONGEST_TEXT = 64 * 1024
"""In bytes."""

NOTES_PAGE = 1000
"""How many changed notes are read at once, unless somebody says otherwise."""


class Note(NamedTuple):
    """A note as it stands in a store."""

    name: str
    revision: int
    """How often it was written, from 1 on."""
    change: int
    """The place of its last change among all changes of all notes; there may be gaps between."""
    shelf: str
    """What it is listed under, if anything."""
    text: str


class Draft:
    """A note to be written after its revision `expected`, and what became of that."""

    __slots__ = ("expected", "name", "note", "refusal", "shelf", "text")

    def __init__(self, name: str, text: str, *, expected: int, shelf: str = "") -> None:
        if expected < 0:
            raise StaleVersion(f"no note is at revision {quoted(expected)}: nothing was written")
        self.name = check_id(name, "note")
        self.shelf = check_id(shelf, "shelf") if shelf != "" else ""
        self.text = check_text(text)
        self.expected = expected
        self.note: Note | None = None
        """The note as it was written; as it was to be written, while the outcome is unknown."""
        self.refusal: NoughtsError | None = None


class Notes(ABC):
    """The notes of a store."""

    _group: Group
    _bell: Bell

    def note(self, name: str) -> Note | None:
        """Return a note, None if there is none of that name."""
        self._check_open()
        row = self._note(check_id(name, "note"))
        return None if row is None else checked(row)

    def write_note(self, name: str, text: str, *, expected: int, shelf: str = "") -> Note:
        """Write a note of which you have seen the revision `expected`, 0 if there was none."""
        draft = Draft(name, text, expected=expected, shelf=shelf)
        self.write_notes((draft,))
        if draft.refusal:
            raise draft.refusal
        assert draft.note  # noqa: S101 - what was not refused was written
        return draft.note

    def write_notes(self, drafts: Sequence[Draft]) -> None:
        """Write several in one commit, each judged by itself: it has its `note` then, or its `refusal`.

        After an outcome that nobody knows, the same drafts can be given again: what was written of them
        already is found to be theirs.
        """
        self._group.record(drafts, commit=self._write_drafts)

    def restore_notes(self, notes: Sequence[Note]) -> None:
        """Write notes as they stand elsewhere, with their revisions and changes, all of them or none.

        That is for a store without notes of its own: pages of another's, in the order of their changes.
        """
        self._group.record(notes, alone=True, commit=self._write_again)

    def notes(self, shelf: str, limit: int = 50) -> tuple[Note, ...]:
        """Return the notes on a shelf, the last changed first."""
        self._check_open()
        return tuple(map(checked, self._notes(check_id(shelf, "shelf"), place(limit))))

    def changed_notes(self, after: int = 0, limit: int = NOTES_PAGE) -> tuple[Note, ...]:
        """Return the notes that were changed after that place, in that order, each as it is now."""
        self._check_open()
        return tuple(map(checked, self._changed_notes(place(after), place(limit))))

    def last_change(self) -> int:
        """Return the place of the last change of any note, 0 if there was none."""
        self._check_open()
        return self._last_change()

    def _write_drafts(self, drafts: Sequence[Draft]) -> None:
        if drafts:
            self._check_open()
            self._commit_notes(
                {draft.name for draft in drafts}, lambda rows, end: judge(drafts, rows, end)
            )
            self._bell.ring()

    def _write_again(self, notes: Sequence[Note]) -> None:
        if notes:
            self._check_open()
            self._commit_notes((), lambda _rows, _end: list(map(sealed, notes)))
            self._bell.ring()

    @abstractmethod
    def _check_open(self) -> None:
        """Refuse to do anything once the store is closed."""

    # What an engine does: the rest is the same for all.

    @abstractmethod
    def _commit_notes(self, names: Iterable[str], judge: Judge) -> None:
        """Read the notes of these names, ask what is to be written, and write it, in one commit.

        Nobody else may change a note between; only one thread calls this at a time.
        """

    @abstractmethod
    def _note(self, name: str) -> Row | None:
        """Read one note."""

    @abstractmethod
    def _notes(self, shelf: str, limit: int) -> list[Row]:
        """Read the notes on a shelf, the last changed first."""

    @abstractmethod
    def _changed_notes(self, after: int, limit: int) -> list[Row]:
        """Read the notes that were changed after that place, in the order of their changes."""

    @abstractmethod
    def _last_change(self) -> int:
        """Read the place of the last change."""


def judge(drafts: Sequence[Draft], rows: Iterable[Row], end: int) -> list[Row]:
    """Let the first in line win at each revision, and return the notes to be written after `end`."""
    if type(end) is not int or not 0 <= end < LATEST - len(drafts):
        raise CorruptStore(f"the notes are damaged: their last change is said to be {quoted(end)}")
    there = {row[0]: row for row in rows}
    new: dict[str, Row] = {}
    for draft in drafts:
        draft.refusal = None  # it may have been judged before, in a commit that came to nothing
        try:
            stored = checked(there[draft.name]) if draft.name in there else None
        except CorruptStore as damage:  # it concerns this note, and no other of the same commit
            draft.refusal, draft.note = damage, None
            continue
        if stored and stored == draft.note:
            continue  # it was written, and only the answer was lost
        revision = stored.revision if stored else 0
        if draft.expected != revision:
            draft.refusal, draft.note = _stale(draft, revision), None
            continue
        end += 1
        draft.note = Note(draft.name, revision + 1, end, draft.shelf, draft.text)
        new.pop(draft.name, None)  # so that what is written stands in the order of the changes
        new[draft.name] = there[draft.name] = sealed(draft.note)
    return list(new.values())


def _stale(draft: Draft, revision: int) -> StaleVersion:
    words = "nothing was written"
    if draft.note and revision > draft.note.revision:
        words = "whether this was written before is not known"
    return StaleVersion(f"note {draft.name} is at revision {revision}, not at {draft.expected}: {words}")


def seal_note(name: str, revision: int, change: int, shelf: str, text: str) -> bytes:
    """Return the hash of a note."""
    return sha256(f"note\n{name}\n{revision}\n{change}\n{shelf}\n{text}".encode()).digest()


def sealed(note: Note) -> Row:
    """Return what an engine keeps of a note."""
    return (*note, seal_note(*note))


def checked(row: Row) -> Note:
    """Return a note that is as it was written, or refuse it."""
    *fields, link = row
    # Damage may change the kind of a value as well, and make text of what was a number.
    if tuple(map(type, row)) != (str, int, int, str, str, bytes) or seal_note(*row[:5]) != link:
        raise CorruptStore(f"note {quoted(fields[0])} has changed since it was written")
    return Note(*row[:5])


def check_text(text: str) -> str:
    """Return a text that every engine keeps as it is, or refuse it."""
    try:
        size = len(text.encode())
    except (AttributeError, UnicodeEncodeError):
        raise MalformedRecord(
            f"a note is text that can be written as UTF-8, not {quoted(text)}"
        ) from None
    if size > LONGEST_TEXT:
        raise MalformedRecord(f"a note has at most {LONGEST_TEXT} bytes, not {size}")
    if "\0" in text:
        raise MalformedRecord("a note has no NUL in it")
    return text
