"""Documents: small named texts that may change, such as a game's seats and offers.

A writer names the revision that it has seen, 0 for none; of two that have seen the same revision, one
wins. Only the latest revision is kept. Every read checks the hash.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import sha256
from secrets import token_hex
from typing import NamedTuple, TypeAlias, TypeVar

from noughts.core.errors import MalformedRecord, NoughtsError, quoted
from noughts.store.errors import CorruptStore, StaleVersion
from noughts.store.records import check_id

Row: TypeAlias = tuple[str, int, str, str, str, bytes]
"""A document's fields and their hash."""

MAX_TEXT_BYTES = 64 * 1024

Content = TypeVar("Content")


class Document(NamedTuple):
    name: str
    revision: int
    """Counts from 1."""
    label: str
    text: str
    key: str
    """Random for each write, so that a retry recognises its own."""


class Write:
    __slots__ = ("document", "expected", "refusal")

    def __init__(self, name: str, text: str, *, expected: int, label: str = "") -> None:
        if type(expected) is not int or expected < 0:
            raise StaleVersion(f"no document is at revision {quoted(expected)}: nothing was written")
        check_id(name, "document")
        if label != "":
            check_id(label, "label")
        self.expected = expected
        self.document = Document(name, expected + 1, label, check_text(text), token_hex(8))
        self.refusal: NoughtsError | None = None


class DocumentJudge:
    def __init__(self, rows: Iterable[Row]) -> None:
        self._stored = {row[0]: row for row in rows}
        self._new: dict[str, Document] = {}

    def accept(self, write: Write) -> bool:
        """Accept or refuse a write; one that is already stored counts as success."""
        document = write.document
        write.refusal = None  # it may have been judged before, in a commit that failed
        stored = self._new.get(document.name)
        if stored is None and document.name in self._stored:
            try:
                stored = check_row(self._stored[document.name])
            except CorruptStore as damage:  # refuses only this write of the commit
                write.refusal = damage
                return False
        if stored == document:
            return True
        revision = stored.revision if stored else 0
        if write.expected != revision:
            write.refusal = StaleVersion(
                f"document {document.name} is at revision {revision}, not at {write.expected}: "
                "nothing was written"
            )
            return False
        self._new[document.name] = document
        return True

    def may_put(self, document: Document) -> bool:
        """Return whether a document is newer than the stored one; refuse an older one."""
        row = self._stored.get(document.name)
        stored = None if row is None else check_row(row)
        if stored == document:
            return False
        if stored and stored.revision >= document.revision:
            raise StaleVersion(f"document {document.name} is at revision {stored.revision} already")
        return True

    @property
    def rows(self) -> list[Row]:
        return [document_row(self._new[name]) for name in sorted(self._new)]


def document_hash(name: str, revision: int, label: str, text: str, key: str) -> bytes:
    return sha256(f"document\n{name}\n{revision}\n{label}\n{key}\n{text}".encode()).digest()


def document_row(document: Document) -> Row:
    return (*document, document_hash(*document))


def check_row(row: Row) -> Document:
    types = [*map(type, row)]  # damage may change them, too
    if types != [str, int, str, str, str, bytes] or document_hash(*row[:5]) != row[5]:
        raise CorruptStore(f"document {quoted(row[0])} has changed since it was written")
    return Document(*row[:5])


def decode_text(text: str, decode: Callable[[str], Content]) -> Content:
    """Decode a document's text; one that its writer's decoder refuses is damaged."""
    try:
        return decode(text)
    except ValueError as error:
        raise CorruptStore(f"a document cannot be read: {error}") from error


def check_text(text: str) -> str:
    """Return a text that every engine can store, or refuse it."""
    try:
        size = len(text.encode())
    except (AttributeError, UnicodeEncodeError):
        raise MalformedRecord(f"a document is text in UTF-8, not {quoted(text)}") from None
    if size > MAX_TEXT_BYTES:
        raise MalformedRecord(f"a document has at most {MAX_TEXT_BYTES} bytes, not {size}")
    if "\0" in text:
        raise MalformedRecord("a document can't contain NUL")
    return text
