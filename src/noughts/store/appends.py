"""Decides which pending appends succeed, and the rows that an engine writes for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from noughts.core.board import Mark
from noughts.core.codec import dumps, loads
from noughts.core.errors import ImpossibleHistory, MalformedRecord, NoughtsError, quoted
from noughts.core.events import Event, GameDraw, GameWon, PlayerJoined, PlayerNotifyIllegalMove
from noughts.store.documents import Document, DocumentJudge, Row as DocumentRow, Write, document_row
from noughts.store.errors import CorruptStore, NoSuchGame, StaleVersion
from noughts.store.records import GENESIS, MAX_NUMBER, check_id, count_events, record_hash

Head: TypeAlias = tuple[int, bytes, bool]
"""The end of a game: its version, the hash of its last record, and whether it was deleted."""
RecordRow: TypeAlias = tuple[str, int, int, str, str, bytes]
"""The fields of a `Record`."""

MAX_CACHED_COMMANDS = 4096
MAX_NAME_BYTES = 2_000
"""PostgreSQL's indexes take about 2,700 bytes per row."""

DRAW = "draw"
"""The result of a drawn game; any other finished game's is the winner's mark."""


class CatalogueChange(NamedTuple):
    x: str | None = None
    o: str | None = None
    result: str | None = None


NO_CHANGE = CatalogueChange()


class CatalogueRow(NamedTuple):
    game: str
    started: int
    """When it was created, in milliseconds since 1970."""
    x: str | None = None
    o: str | None = None
    result: str | None = None

    @property
    def start(self) -> tuple[int, str]:
        """Its place in the catalogue."""
        return self.started, self.game

    def changed(self, change: tuple[str | None, str | None, str | None]) -> CatalogueRow:
        x, o, result = change
        return CatalogueRow(self.game, self.started, x or self.x, o or self.o, result or self.result)


NEW_GAME: Head = 0, GENESIS, False


class Append:
    """The events of one command, to be recorded at version `expected` of its game."""

    __slots__ = ("at", "change", "count", "document", "expected", "game", "key", "refusal", "text")

    def __init__(  # noqa: PLR0913 - a record has that many fields
        self,
        game: str,
        expected: int,
        text: str,
        *,
        key: str,
        at: int,
        change: CatalogueChange = NO_CHANGE,
        document: Write | None = None,
    ) -> None:
        if type(expected) is not int or expected < 0:
            raise StaleVersion(f"no game is at version {quoted(expected)}: nothing was recorded")
        if type(at) is not int or not 0 <= at <= MAX_NUMBER:
            raise ValueError(f"a time is 0 to {MAX_NUMBER} milliseconds after 1970, not {quoted(at)}")
        self.game = check_id(game)
        self.expected = expected
        self.text = text
        self.count = count_events(text)
        self.key = check_id(key, "command")
        self.at = at
        self.change = change
        self.document = document
        """Written in the same commit, or neither is."""
        self.refusal: NoughtsError | None = None

    @property
    def identity(self) -> tuple[str, int, str, str]:
        """What stays the same when an append is retried."""
        return self.game, self.expected, self.key, self.text

    @property
    def document_name(self) -> str:
        return self.document.document.name if self.document else ""


def append_of(
    game: str, expected: int, events: Iterable[Event], *, key: str, at: int, document: Write | None = None
) -> Append:
    text, change = serialize(events)
    return Append(game, expected, text, key=key, at=at, change=change, document=document)


class Batch(NamedTuple):
    """What one commit is asked to write."""

    appends: Sequence[Append]
    writes: Sequence[Write] = ()
    documents: Sequence[Document] = ()
    """Written as they are."""
    is_whole: bool = False
    """All or nothing."""

    @property
    def document_names(self) -> list[str]:
        """The documents that must be read to judge it."""
        documents = (*(write.document for write in self.writes), *self.documents)
        names = (*(document.name for document in documents), *(one.document_name for one in self.appends))
        return [*filter(None, names)]


class Outcome:
    __slots__ = ("documents", "heads", "records", "winners")

    def __init__(self) -> None:
        self.winners: list[Append] = []
        self.records: list[RecordRow] = []
        self.heads: dict[str, Head] = {}
        """Where the games of these records end now."""
        self.documents: list[DocumentRow] = []

    @property
    def catalogue(self) -> list[CatalogueRow]:
        rows: dict[str, CatalogueRow] = {}
        for append in self.winners:
            if append.count and (not append.expected or append.change is not NO_CHANGE):
                row = rows.get(append.game) or CatalogueRow(append.game, append.at)
                rows[append.game] = row.changed(append.change)
        return [*rows.values()]

    @property
    def deleted(self) -> list[str]:
        return [append.game for append in self.winners if not append.count]


def arbitrate(
    batch: Batch,
    heads: Mapping[str, Head],
    documents: Iterable[DocumentRow],
    is_recorded: Callable[[Append], bool],
) -> Outcome:
    """Let the first append at each version win, and the first write at each revision.

    A late append succeeds if `is_recorded` finds it: its first attempt had an unknown outcome.
    """
    outcome = Outcome()
    winners, records, ends = outcome.winners, outcome.records, outcome.heads
    judge: DocumentJudge | None = None
    for append in batch.appends:
        append.refusal = None  # it may have been judged before, against an older head
        game, expected, count, write = append.game, append.expected, append.count, append.document
        version, previous, is_deleted = ends.get(game) or heads.get(game, NEW_GAME)
        if expected != version or is_deleted:
            is_late = expected <= version
            is_twice = any(append.identity == winner.identity for winner in winners)
            if not is_late or not (is_twice or is_recorded(append)):
                append.refusal = _refusal(append, version, is_deleted=is_deleted)
        elif write and not (judge := judge or DocumentJudge(documents)).accept(write):
            append.refusal = write.refusal
        else:
            key, at, text = append.key, append.at, append.text
            link = record_hash(previous if count else GENESIS, game, expected, at, key, text)
            winners.append(append)
            # Plain tuples: making a NamedTuple takes longer than hashing it.
            records.append((game, expected, at, key, text, link))
            ends[game] = expected + count, link, not count
        if batch.is_whole and append.refusal:
            raise append.refusal
    if judge or batch.writes or batch.documents:
        judge = judge or DocumentJudge(documents)
        for write in batch.writes:
            judge.accept(write)
        put = [document_row(one) for one in batch.documents if judge.may_put(one)]
        outcome.documents = [*judge.rows, *put]
    return outcome


def head_of(version: object, text: object, link: object) -> Head:
    if type(version) is not int or type(text) is not str or type(link) is not bytes:
        raise CorruptStore(f"a record at version {quoted(version)} is damaged")
    count = count_events(text)
    return version + count, link, not count


def _refusal(append: Append, version: int, *, is_deleted: bool) -> NoughtsError:
    if is_deleted:
        return NoSuchGame(f"game {append.game} was deleted")
    return StaleVersion(
        f"game {append.game} is at version {version}, not at {append.expected}: nothing was recorded"
    )


_serialized: dict[tuple[object, ...], tuple[str, CatalogueChange]] = {}
"""Recent commands' events as text: apart from names, few different ones exist."""
_last_serialized: dict[int, tuple[tuple[Event, ...], tuple[str, CatalogueChange]]] = {}
"""The same by identity, which is quicker to look up."""


def serialize(events: Iterable[Event]) -> tuple[str, CatalogueChange]:
    """Return a command's events as text, and what they change in the catalogue."""
    command = tuple(events)
    same = _last_serialized.get(id(command))
    if same and same[0] is command:  # `decide` returns the same tuple for the same token
        return same[1]
    found = _find_serialized(command)
    if len(_last_serialized) >= MAX_CACHED_COMMANDS:
        _last_serialized.clear()
    _last_serialized[id(command)] = command, found
    return found


def _find_serialized(command: tuple[Event, ...]) -> tuple[str, CatalogueChange]:
    parts: list[object] = []
    try:
        for event in command:
            values = event.__dict__.values()
            parts += (event.__class__, *map(type, values), *values)  # 1 == True == 1.0 for Python
        key = tuple(parts)
        found = _serialized.get(key)
    except (AttributeError, TypeError):  # not an event, or one with an impossible value
        return _serialize(command)
    if found is None:
        found = _serialize(command)
        if len(_serialized) >= MAX_CACHED_COMMANDS:
            _serialized.clear()
        _serialized[key] = found
    return found


def _serialize(command: tuple[Event, ...]) -> tuple[str, CatalogueChange]:
    texts: list[str] = []
    for event in command:
        if isinstance(event, PlayerNotifyIllegalMove):
            raise ImpossibleHistory(f"{event.kind()} is not part of a game's record")
        texts.append(dumps(event))
        read = loads(texts[-1])
        if read != event or _are_marks(read) != _are_marks(event):  # a mark equals its letter
            raise MalformedRecord(f"{quoted(event)} would not read back the same")
        if isinstance(event, PlayerJoined) and len(event.name.encode()) > MAX_NAME_BYTES:
            raise MalformedRecord(f"{quoted(event.name)} is longer than {MAX_NAME_BYTES} bytes")
    if not texts:
        raise ValueError("an append has at least one event")
    return "\n".join(texts), catalogue_change(command)


def _are_marks(event: Event) -> list[bool]:
    return [isinstance(value, Mark) for value in vars(event).values()]


def catalogue_change(events: Iterable[Event]) -> CatalogueChange:
    change = NO_CHANGE
    for event in events:
        match event:
            case PlayerJoined(mark, name):
                change = change._replace(**{mark.value.lower(): name})
            case GameWon(mark):
                change = change._replace(result=mark.value)
            case GameDraw():
                change = change._replace(result=DRAW)
    return change
