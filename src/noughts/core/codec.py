"""Events as plain data and JSON lines, with a schema version in each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

from noughts.core import events as language
from noughts.core.board import Mark
from noughts.core.errors import (
    IllegalMoveReason,
    ImpossibleHistory,
    InvalidArgument,
    MalformedRecord,
    RecordError,
    UnknownEvent,
    quoted,
)
from noughts.core.events import Event, PlayerNotifyIllegalMove, facts
from noughts.core.game import replay

SCHEMA = 1

_KINDS: dict[str, type[Event]] = {kind.kind(): kind for kind in language.Event.__args__}
_CLASSES = {*_KINDS.values()}


def encode(event: Event) -> dict[str, object]:
    """Convert an event to plain data.

    >>> encode(language.PlayerPlacedToken(0, 2, Mark.X))
    {'schema': 1, 'event': 'playerPlacedToken', 'row': 0, 'column': 2, 'mark': 'X'}
    """
    if event.__class__ not in _CLASSES:
        raise InvalidArgument(f"{quoted(event)} is not an event")
    fields = {
        name: value.value if isinstance(value, Mark | IllegalMoveReason) else value
        for name, value in vars(event).items()
    }
    return {"schema": SCHEMA, "event": event.kind(), **fields}


def decode(written: object) -> Event:
    """Convert plain data back to an event; anything else is refused.

    >>> decode({"schema": 1, "event": "gameWon", "mark": "Y"})
    Traceback (most recent call last):
    noughts.core.errors.MalformedRecord: gameWon: mark is X or O, not 'Y'
    """
    if not isinstance(written, dict):
        raise MalformedRecord(f"a written event is an object, not {quoted(written)}")
    schema, name, fields = _head(written)
    if type(schema) is not int or schema != SCHEMA:
        raise UnknownEvent(f"schema {quoted(schema)} is unknown: this version reads schema {SCHEMA}")
    kind = _KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise UnknownEvent(f"no event is called {quoted(name)}")
    wanted = kind.__match_args__
    if missing := [field for field in wanted if field not in fields]:
        raise MalformedRecord(f"{name} lacks {' and '.join(missing)}")
    if extra := [quoted(field) for field in fields if field not in wanted]:
        raise MalformedRecord(f"{name} has no {extra[0]}")
    build: Callable[..., Event] = kind
    return build(*(_read(f"{name}: {field}", field, fields[field]) for field in wanted))


def dumps(event: Event) -> str:
    return json.dumps(encode(event), ensure_ascii=False, separators=(",", ":"))


def loads(line: str) -> Event:
    return decode(read_json(line))


def read_json(line: str) -> object:
    """Read JSON strictly: no duplicate fields, and no NaN or Infinity."""
    try:
        return json.loads(line, object_pairs_hook=_once_each, parse_constant=_no_constant)
    except RecordError:
        raise
    except (ValueError, RecursionError):
        raise MalformedRecord(f"{quoted(line)} is not JSON") from None


def format_record(events: Iterable[Event]) -> str:
    """Write a game as JSON lines, one for each event, without those for one player only."""
    return "".join(dumps(event) + "\n" for event in facts(events))


def parse_record(text: str) -> tuple[Event, ...]:
    """Read a game from JSON lines; an error names the line."""
    if not isinstance(text, str):
        raise MalformedRecord(f"a record is text, not {quoted(text)}")
    history = []
    for number, line in enumerate(text.removesuffix("\n").split("\n"), start=1):
        try:
            event = loads(line)
        except RecordError as error:
            raise type(error)(f"line {number}: {error}") from error
        if isinstance(event, PlayerNotifyIllegalMove):
            raise ImpossibleHistory(f"line {number}: {event.kind()} is not part of a game's record")
        history.append(event)
    replay(history)
    return tuple(history)


def _head(written: dict[object, object]) -> tuple[object, object, dict[object, object]]:
    fields = dict(written)
    for name in ("schema", "event"):
        if name not in fields:
            raise MalformedRecord(f"a written event needs {name}")
    return fields.pop("schema"), fields.pop("event"), fields


def _read_mark(value: object) -> Mark | None:
    return Mark(value) if isinstance(value, str) and value in ("X", "O") else None


def _read_reason(value: object) -> IllegalMoveReason | None:
    return next(
        (reason for reason in IllegalMoveReason if isinstance(value, str) and reason.value == value), None
    )


def can_be_recorded(name: object) -> bool:
    """Return whether every store can save the name."""
    try:
        return isinstance(name, str) and b"\0" not in name.encode()
    except UnicodeEncodeError:  # half a character
        return False


def _read_name(value: object) -> str | None:
    return value if isinstance(value, str) and can_be_recorded(value) else None


def _read_index(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= 2 else None


def _read_count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= 9 else None


def _read_true(value: object) -> bool | None:
    return True if value is True else None


# A field means the same in every event that has it.
_FIELDS: dict[str, tuple[Callable[[object], object], str]] = {
    "first": (_read_mark, "X or O"),
    "mark": (_read_mark, "X or O"),
    "row": (_read_index, "0, 1 or 2"),
    "column": (_read_index, "0, 1 or 2"),
    "count": (_read_count, "0 to 9"),
    "completed": (_read_true, "true"),
    "name": (_read_name, "text in whole characters without NUL"),
    "reason": (_read_reason, "one of " + ", ".join(reason.value for reason in IllegalMoveReason)),
}


def _read(where: str, field: str, value: object) -> object:
    reader, right = _FIELDS[field]
    read = reader(value)
    if read is None:
        raise MalformedRecord(f"{where} is {right}, not {quoted(value)}")
    return read


def _once_each(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise MalformedRecord("a field is given twice")
    return fields


def _no_constant(name: str) -> object:
    raise MalformedRecord(f"{name} is not JSON")
