"""Players and their names."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noughts import Mark, O, Player, X, errors
from noughts.core.player import clean_name


def test_a_player_has_a_name_and_a_mark() -> None:
    """By position or by name."""
    bob = Player("bob", X)

    assert (bob.name, bob.mark) == ("bob", X)
    assert bob == Player(mark=X, name="bob")
    assert bob != Player("bob", O)


@pytest.mark.parametrize(("given", "missing"), [({"mark": X}, "name"), ({"name": "bob"}, "mark")])
def test_a_player_without_name_or_mark_is_refused(given: dict[str, object], missing: str) -> None:
    """The error says which is missing."""
    with pytest.raises(TypeError, match=f"'{missing}'"):
        Player(**given)  # type: ignore[arg-type]  # that is the point


@pytest.mark.parametrize("mark", ["X", None, "Y"])
def test_a_players_mark_is_one_of_two(mark: object) -> None:
    """The letter alone is no mark."""
    with pytest.raises(TypeError) as raised:
        Player("bob", mark)  # type: ignore[arg-type]  # that is the point

    assert str(raised.value) == f"a mark is Mark.X or Mark.O, not {mark!r}"


@pytest.mark.parametrize(
    ("name", "clean"),
    [
        ("bob", "bob"),
        ("  bob ", "bob"),
        ("Zoe\u0308", "Zo\u00eb"),
        ("a b", "a b"),
        ("王小明", "王小明"),
        ("🦊", "🦊"),
        ("x" * 32, "x" * 32),
        ("e\u0301" * 32, "\u00e9" * 32),
        ("\u03b1\u0313\u0300\u0345" * 32, "\u1f82" * 32),
    ],
)
def test_a_name_has_one_form(name: str, clean: str) -> None:
    """Composed, and without the space around it; its length is counted afterwards."""
    assert clean_name(name) == clean
    assert Player(name, X).name == clean


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "a name has 1 to 32 characters, and this one is empty"),
        ("  ", "a name has 1 to 32 characters, and this one is empty"),
        (" \t ", "a name has printable characters only, unlike ' \\t '"),
        ("bob\n", "a name has printable characters only, unlike 'bob\\n'"),
        ("\x1fbob", "a name has printable characters only, unlike '\\x1fbob'"),
        ("\u3164 \u2800", "a name has something to see in it, unlike '\\u3164 \\u2800'"),
        ("\u0301", "a name has something to see in it, unlike '\\u0301'"),
        ("x" * 33, "a name has 1 to 32 characters, and this one has 33"),
        ("x" * 129, "a name has 1 to 32 characters, and this one has 129"),
        (" " * 129 + "x", "a name has 1 to 32 characters, and this one has 130"),
        ("a\nb", "a name has printable characters only, unlike 'a\\nb'"),
        ("\x1b[31mred", "a name has printable characters only, unlike '\\x1b[31mred'"),
        ("\u202egnp.exe", "a name has printable characters only, unlike '\\u202egnp.exe'"),
        ("a\u2066b", "a name has printable characters only, unlike 'a\\u2066b'"),
        ("a\udcffb", "a name has printable characters only, unlike 'a\\udcffb'"),
        (None, "a name is text, not None"),
        (b"bob", "a name is text, not b'bob'"),
    ],
)
def test_a_name_that_cannot_be_shown_is_refused(name: object, message: str) -> None:
    """With a sentence in which nothing of it is raw."""
    with pytest.raises(errors.InvalidName) as raised:
        clean_name(name)  # type: ignore[arg-type]  # that is the point

    assert str(raised.value) == message


@given(st.text())
def test_a_name_is_either_refused_or_clean(name: str) -> None:
    """Whatever it is: what comes through is short, composed, printable, and stays as it is."""
    try:
        clean = clean_name(name)
    except errors.InvalidName as refusal:
        assert str(refusal).isprintable()
    else:
        assert 1 <= len(clean) <= 32
        assert clean.isprintable()
        assert unicodedata.is_normalized("NFC", clean)
        assert clean == clean.strip() == clean_name(clean)
        assert Player(clean, Mark.X).name == clean
