"""Frozen records."""

from __future__ import annotations

import copy
import inspect
import pickle

import pytest

from noughts.core.value import Value


class Point(Value):
    """A point on a grid."""

    x: int
    y: int = 0


class Vector(Value):
    """Another class with the same fields."""

    x: int
    y: int = 0


def test_fields_are_taken_in_order_by_name_and_by_default() -> None:
    assert Point(1, 2) == Point(1, y=2) == Point(y=2, x=1)
    assert Point(1) == Point(1, 0)


def test_values_are_equal_when_their_class_and_fields_are() -> None:
    assert Point(1, 2) != Point(1, 3)
    assert Point(1, 2) != Vector(1, 2)
    assert Point(1, 2) != (1, 2)


def test_equal_values_have_equal_hashes() -> None:
    assert len({Point(1, 2), Point(1, y=2), Vector(1, 2)}) == 2
    assert len({hash(Point(1, 2)), hash(Point(2, 1)), hash(Vector(1, 2))}) == 3


def test_a_value_shows_its_fields() -> None:
    assert repr(Point(1)) == "Point(x=1, y=0)"


def test_a_value_says_its_fields() -> None:
    class Place(Point):
        name: str = "here"

    class Doubled(Value):
        number: int = 1

        def __init__(self, *values: object, **named: object) -> None:
            super().__init__(*values, **named)

    class Even(Value):
        number: int

        def __init__(self, half: int) -> None:
            super().__init__(2 * half)

    signatures = [str(inspect.signature(kind)) for kind in (Place, Doubled, Even, Value)]

    assert signatures == [
        "(x: 'int', y: 'int' = 0, name: 'str' = 'here')",
        "(number: 'int' = 1)",
        "(half: 'int')",
        "()",
    ]


def test_a_value_cannot_be_changed() -> None:
    point = Point(1)

    with pytest.raises(AttributeError, match=r"^Point is a value: x cannot be set$"):
        point.x = 2  # type: ignore[misc]  # that is the point
    with pytest.raises(AttributeError, match=r"^Point is a value: x cannot be deleted$"):
        del point.x

    assert point == Point(1)


def test_replace_makes_a_new_value() -> None:
    point = Point(1, 2)

    assert point.replace(y=5) == Point(1, 5)
    assert point == Point(1, 2)


@pytest.mark.parametrize(
    ("values", "named", "message"),
    [
        ((), {}, "Point needs x"),
        ((), {"y": 1}, "Point needs x"),
        ((1, 2, 3), {}, "Point takes 2 values, not 3"),
        ((1,), {"x": 1}, "Point was given x twice"),
        ((1, 2), {"y": 1}, "Point was given y twice"),
        ((1,), {"z": 1}, "Point has no z"),
    ],
)
def test_wrong_fields_are_refused_by_name(
    values: tuple[int, ...], named: dict[str, int], message: str
) -> None:
    with pytest.raises(TypeError, match=f"^{message}$"):
        Point(*values, **named)


def test_all_missing_fields_are_named() -> None:
    class Pair(Value):
        left: int
        right: int

    with pytest.raises(TypeError, match=r"^Pair needs left and right$"):
        Pair()  # type: ignore[call-arg]  # that is the point


def test_a_value_that_checks_its_fields_checks_replaced_ones_too() -> None:
    class Even(Value):
        number: int

        def __init__(self, number: int) -> None:
            if number % 2:
                raise ValueError(f"{number} is odd")
            super().__init__(number)

    assert Even(2).replace(number=4) == Even(4)
    with pytest.raises(ValueError, match="3 is odd"):
        Even(2).replace(number=3)


def test_replacing_what_is_not_there_is_refused() -> None:
    with pytest.raises(TypeError, match=r"^Point has no z$"):
        Point(1).replace(z=5)


def test_a_value_has_the_fields_of_its_parents_too() -> None:
    class Place(Point):
        name: str = "here"

    assert repr(Place(1)) == "Place(x=1, y=0, name='here')"
    assert Place(1, 2, "there").name == "there"


def test_values_match_by_position() -> None:
    match Point(3, 4):
        case Point(x, y):
            assert (x, y) == (3, 4)


def test_values_can_be_copied_and_pickled() -> None:
    point = Point(1, 2)

    assert copy.copy(point) == copy.deepcopy(point) == pickle.loads(pickle.dumps(point)) == point  # noqa: S301 - our own bytes
