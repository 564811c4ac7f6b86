"""Frozen records, without the cost of importing `dataclasses`.

Importing `dataclasses` and creating the game's classes with it takes longer than starting Python
(docs/notes/2026-11-15-starting-fast-without-dataclasses.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, dataclass_transform

if TYPE_CHECKING:  # loading it takes longer than the rules
    from inspect import Signature


class _FieldsAsSignature:
    """What `inspect.signature` and `help` show of a class: its fields, or what its `__init__` names."""

    def __get__(self, _value: object, kind: type[Value]) -> Signature:
        from inspect import Parameter, Signature, signature  # noqa: PLC0415 - see above

        _self, *taken = signature(kind.__init__).parameters.values()
        if any(one.kind is Parameter.VAR_POSITIONAL for one in taken):
            types: dict[str, Any] = {}
            for base in reversed(kind.__mro__):
                types |= getattr(base, "__annotations__", {})
            taken = [
                Parameter(
                    name,
                    Parameter.POSITIONAL_OR_KEYWORD,
                    default=getattr(kind, name, Parameter.empty),
                    annotation=types[name],
                )
                for name in kind.__match_args__
            ]
        return Signature(taken)


@dataclass_transform(frozen_default=True)
class Value:
    """A frozen record of the fields that its class annotates.

    Two values are equal if their classes and fields are.

    >>> class Point(Value):
    ...     x: int
    ...     y: int = 0
    >>> Point(3)
    Point(x=3, y=0)
    >>> Point()
    Traceback (most recent call last):
    TypeError: Point needs x
    """

    __match_args__: ClassVar[tuple[str, ...]] = ()
    __signature__: ClassVar = _FieldsAsSignature()

    def __init_subclass__(cls) -> None:
        fields = dict.fromkeys((*cls.__match_args__, *cls.__annotations__))  # inherited ones first
        cls.__match_args__ = tuple(fields)  # type: ignore[misc]  # mypy takes it for final

    def __init__(self, *values: object, **named: object) -> None:
        fields = self.__match_args__
        if len(values) != len(fields) or named:
            values = _bind(type(self), fields, values, named)
        self.__dict__.update(zip(fields, values))  # noqa: B905 - the lengths are equal, and checking is slow

    def replace(self, **changes: Any) -> Self:  # noqa: ANN401 - each field has its own type
        """Return a copy with some fields changed."""
        kind = self.__class__
        if strange := next((name for name in changes if name not in self.__dict__), None):
            raise TypeError(f"{kind.__name__} has no {strange}")
        if kind.__init__ is not Value.__init__:  # it checks its fields
            return kind(*(self.__dict__ | changes).values())
        return changed(self, **changes)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), *self.__dict__.values()))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__name__}({fields})"

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is a value: {name} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is a value: {name} cannot be deleted")


def _bind(
    kind: type, fields: tuple[str, ...], values: tuple[object, ...], named: dict[str, object]
) -> tuple[object, ...]:
    """Put positional, named and default values in the order of the fields."""
    if len(values) > len(fields):
        raise TypeError(f"{kind.__name__} takes {len(fields)} values, not {len(values)}")
    bound = dict(zip(fields, values, strict=False))
    for name, value in named.items():
        if name not in fields:
            raise TypeError(f"{kind.__name__} has no {name}")
        if name in bound:
            raise TypeError(f"{kind.__name__} was given {name} twice")
        bound[name] = value
    if missing := [name for name in fields if name not in bound and not hasattr(kind, name)]:
        raise TypeError(f"{kind.__name__} needs {' and '.join(missing)}")
    return tuple(bound[name] if name in bound else getattr(kind, name) for name in fields)


V = TypeVar("V", bound=Value)


def changed(value: V, **changes: Any) -> V:  # noqa: ANN401 - each field has its own type
    """Return a copy with some fields changed to what needs no check, which is faster."""
    kind = value.__class__
    copy = kind.__new__(kind)
    copy.__dict__.update(value.__dict__, **changes)
    return copy
