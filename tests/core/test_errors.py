"""The tree of errors, and how they quote values."""

from __future__ import annotations

import inspect

import pytest
from hypothesis import given, strategies as st

from noughts import errors
from noughts.core.errors import complaint, did_you_mean, printable, quoted


def test_every_error_is_in_the_tree_of_the_docstring() -> None:
    drawn: dict[int, str] = {}
    tree = {}
    for line in (errors.__doc__ or "").splitlines():
        name = line.lstrip("│├└─ ").split(" ")[0]
        if name[:1].isupper() and hasattr(errors, name):
            depth = (len(line) - len(line.lstrip("│├└─ "))) // 4
            drawn[depth] = name
            tree[name] = drawn.get(depth - 1, "Exception")

    kinds = [
        kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, Exception)
    ]
    assert tree == {kind.__name__: kind.__base__.__name__ for kind in kinds if kind.__base__}


def test_an_argument_of_the_wrong_kind_is_a_type_error_too() -> None:
    assert issubclass(errors.InvalidArgument, errors.NoughtsError)
    assert issubclass(errors.InvalidArgument, TypeError)


def test_every_illegal_move_has_a_reason_of_its_own() -> None:
    reasons = {kind.__name__: kind.reason for kind in errors.IllegalMove.__subclasses__()}

    assert reasons == {
        "GameOver": errors.IllegalMoveReason.GAME_OVER,
        "NoSuchCell": errors.IllegalMoveReason.NO_SUCH_CELL,
        "NotYourTurn": errors.IllegalMoveReason.NOT_YOUR_TURN,
        "CellTaken": errors.IllegalMoveReason.CELL_TAKEN,
    }


class Rude:
    """An object whose repr fails."""

    def __repr__(self) -> str:
        raise RuntimeError


class Loud:
    """An object whose repr has an escape sequence."""

    def __repr__(self) -> str:
        return "\x1b[2J"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("abc", "'abc'"),
        ("a" * 32, repr("a" * 32)),
        ("a" * 33, repr("a" * 32 + "…")),
        ("\x1b\u202e", "'\\x1b\\u202e'"),
        (12, "12"),
        (-(2**64) + 1, "-18446744073709551615"),
        (2**64, "a number that long"),
        (10**5000, "a number that long"),
        (None, "None"),
        ([1] * 11, "[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"),
        ([10] + [1] * 10, "[10, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"),
        ([100] + [1] * 10, "a list"),
        (Rude(), "a Rude"),
        (Loud(), "a Loud"),
    ],
    ids=range(14),
)
def test_a_value_is_shown_short_and_printable(value: object, shown: str) -> None:
    assert quoted(value) == shown


@given(st.text(max_size=50))
def test_quoted_text_is_always_printable(text: str) -> None:
    assert quoted(text).isprintable()


class Unspeakable(Exception):
    """An error whose str fails."""

    def __str__(self) -> str:
        raise ValueError


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (ValueError("no"), "ValueError: no"),
        (KeyError("a"), "KeyError: 'a'"),
        (RuntimeError(), "RuntimeError"),
        (Unspeakable(), "Unspeakable"),
        (OSError("a\nb\x1b[2J"), "OSError: a\\nb\\x1b[2J"),
        (ValueError("x" * 10_000), f"ValueError: {'x' * 200}"),
        (SystemExit(3), "SystemExit: 3"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_any_error_is_shown_short_and_safe(error: BaseException, shown: str) -> None:
    assert complaint(error) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("bob 三目 é", "bob 三目 é"),
        ("\x1b[2J", r"\x1b[2J"),
        ("a\nb\tc", r"a\nb\tc"),
        ("'\u202e", r"'\u202e"),
        ("ශ්\u200dරී عل\u200cی", "ශ්\u200dරී عل\u200cی"),
        ("👩\u200d🚀\u200b", "👩\u200d🚀\\u200b"),
    ],
)
def test_control_characters_are_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.parametrize(
    ("word", "suggestion"),
    [
        ("prefect", " (did you mean perfect?)"),
        ("PREFECT", " (did you mean perfect?)"),
        ("perfects", " (did you mean perfect?)"),
        ("imperfect", " (did you mean imperfectly?)"),
        ("tiger", ""),
        ("", ""),
    ],
)
def test_the_most_similar_word_is_suggested(word: str, suggestion: str) -> None:
    assert did_you_mean(word, ["random", "imperfectly", "perfect"]) == suggestion
    assert did_you_mean(word, []) == ""
