"""Players and their names."""
# ruff: noqa: RUF001 - people are named in their own letters, and look-alikes are the point

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, strategies as st

from noughts import Mark, O, Player, X, errors
from noughts.core.player import clean_name, is_same_name, name_key


def test_a_player_has_a_name_and_a_mark() -> None:
    bob = Player("bob", X)

    assert (bob.name, bob.mark) == ("bob", X)
    assert bob == Player(mark=X, name="bob")
    assert bob != Player("bob", O)


@pytest.mark.parametrize(("given", "missing"), [({"mark": X}, "name"), ({"name": "bob"}, "mark")])
def test_a_player_without_name_or_mark_is_refused(given: dict[str, object], missing: str) -> None:
    with pytest.raises(TypeError, match=f"'{missing}'"):
        Player(**given)  # type: ignore[arg-type]  # that is the point


@pytest.mark.parametrize("mark", ["x", None, "Y"])
def test_a_players_mark_is_one_of_two(mark: object) -> None:
    with pytest.raises(errors.InvalidArgument) as raised:
        Player("bob", mark)  # type: ignore[arg-type]  # that is the point

    assert str(raised.value) == f"a mark is X or O, not {mark!r}"


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
    assert clean_name(name) == clean
    assert Player(name, X).name == clean


REAL_NAMES = {
    "Persian with a non-joiner": "علی\u200cرضا",
    "Sinhala with a joiner": "ශ්\u200dරී",
    "Bengali with a joiner before a mark": "র\u200d্যাম",
    "Hindi conjunct": "राष्ट्र",
    "Hindi half form": "क्\u200dष",
    "family": "👨\u200d👩\u200d👧\u200d👦",
    "rainbow flag": "🏳\ufe0f\u200d🌈",
    "astronaut with a skin tone": "👩🏽\u200d🚀",
    "couple with a heart": "🧑🏻\u200d❤\ufe0f\u200d🧑🏼",
    "shaking head": "🙂\u200d↔\ufe0f",
    "keycap": "1\ufe0f\u20e3",
    "number sign": "#\ufe0f\u20e3",
    "flag": "🇩🇪",
    "heart": "❤\ufe0f",
    "Irish": "O'Brien",
    "Vietnamese": "Nguyễn Thị Ánh",
    "Hebrew": "שָׁלוֹם",
    "Korean": "김민준",
    "in brackets": "⟨bob⟩ + ♥",
}


@pytest.mark.parametrize("name", REAL_NAMES.values(), ids=REAL_NAMES)
def test_names_as_people_write_them_are_accepted(name: str) -> None:
    """Joiners between letters that they change or between emoji, and the emoji style after a symbol."""
    assert clean_name(name) == unicodedata.normalize("NFC", name)
    assert Player(name, X).name == clean_name(name)


@pytest.mark.parametrize(
    ("name", "place", "character"),
    [
        ("bob\ufe0f", 4, "U+FE0F, variation selector-16"),
        ("bob\ufe0e", 4, "U+FE0E, variation selector-15"),
        ("❤\ufe0e", 2, "U+FE0E, variation selector-15"),
        ("❤\ufe0f\ufe0f", 3, "U+FE0F, variation selector-16"),
        ("bob$\ufe0f", 5, "U+FE0F, variation selector-16"),
        ("\ufe0f", 1, "U+FE0F, variation selector-16"),
        ("bob\u034f", 4, "U+034F, combining grapheme joiner"),
        ("bob\u17b5", 4, "U+17B5, khmer vowel inherent aa"),
        ("bob\u2800", 4, "U+2800, braille pattern blank"),
        ("\u2800", 1, "U+2800, braille pattern blank"),
        ("\u3164 \u2800", 1, "U+3164, hangul filler"),
        ("\uffa0bob", 1, "U+FFA0, halfwidth hangul filler"),
        ("bob\u200d", 4, "U+200D, zero width joiner"),
        ("\u200dbob", 1, "U+200D, zero width joiner"),
        ("b\u200dob", 2, "U+200D, zero width joiner"),
        ("b\u200cob", 2, "U+200C, zero width non-joiner"),
        ("α\u200cβ", 2, "U+200C, zero width non-joiner"),
        ("д\u200cж", 2, "U+200C, zero width non-joiner"),
        ("ｂ\u200dｏ", 2, "U+200D, zero width joiner"),
        ("𝐛\u200d𝐨", 2, "U+200D, zero width joiner"),
        ("q\u0301\u200dع", 3, "U+200D, zero width joiner"),
        ("ع\u200db", 2, "U+200D, zero width joiner"),
        ("b\u200dع", 2, "U+200D, zero width joiner"),
        ("ع\u200d", 2, "U+200D, zero width joiner"),
        ("\u200dع", 1, "U+200D, zero width joiner"),
        ("ع\u200d\u200dع", 2, "U+200D, zero width joiner"),
        ("ع\u200d1", 2, "U+200D, zero width joiner"),
        ("1\u200dع", 2, "U+200D, zero width joiner"),
        ("👩\u200c🚀", 2, "U+200C, zero width non-joiner"),
        ("👩\u200d", 2, "U+200D, zero width joiner"),
        ("\u200d🚀", 1, "U+200D, zero width joiner"),
        ("b\u200d🚀", 2, "U+200D, zero width joiner"),
        ("🏽\u200d🚀", 2, "U+200D, zero width joiner"),
        ("👩\u200db", 2, "U+200D, zero width joiner"),
        ("👩\u200dع", 2, "U+200D, zero width joiner"),
        ("+\u200d+", 2, "U+200D, zero width joiner"),
        ("bob\U000e0041", 4, "U+E0041, tag latin capital letter a"),
        ("\u202egnp.exe", 1, "U+202E, right-to-left override"),
        ("a\u2066b", 2, "U+2066, left-to-right isolate"),
        ("a\u061cb", 2, "U+061C, arabic letter mark"),
        ("bob\u00ad", 4, "U+00AD, soft hyphen"),
        ("bob\u200b", 4, "U+200B, zero width space"),
        ("bob\ufeff", 4, "U+FEFF, zero width no-break space"),
    ],
    ids=ascii,
)
def test_a_name_has_no_invisible_characters(name: str, place: int, character: str) -> None:
    with pytest.raises(errors.InvalidName) as raised:
        clean_name(name)

    assert str(raised.value) == (
        f"a name cannot contain invisible characters: character {place} is {character}"
    )


# Default_Ignorable_Code_Point of Unicode, as its table lists it.
IGNORABLE = """
00AD 034F 061C 115F..1160 17B4..17B5 180B..180D 180E 180F 200B..200F 202A..202E 2060..2064 2065
2066..206F 3164 FE00..FE0F FEFF FFA0 FFF0..FFF8 1BCA0..1BCA3 1D173..1D17A E0000 E0001 E0002..E001F
E0020..E007F E0080..E00FF E0100..E01EF E01F0..E0FFF
"""


def ignorable() -> list[str]:
    """Return all characters that Unicode calls default ignorable."""
    ranges = [part.partition("..") for part in IGNORABLE.split()]
    return [
        chr(code)
        for first, _, last in ranges
        for code in range(int(first, 16), int(last or first, 16) + 1)
    ]


def test_no_invisible_character_passes_after_a_letter_or_makes_another_name() -> None:
    """All 4,174 of them: each is refused between two Latin letters, and counts for nothing."""
    found = ignorable()
    assert len(found) == 4174
    for sign in found:
        with pytest.raises(errors.InvalidName):
            clean_name(f"b{sign}b")
        assert is_same_name(f"b{sign}b", "bb")


def test_only_the_joiners_and_the_emoji_style_are_invisible_and_of_use() -> None:
    contexts = "ع{}ع", "👩{}🚀", "❤{}", "1{}"

    def passes(sign: str) -> bool:
        for context in contexts:
            try:
                clean_name(context.format(sign))
            except errors.InvalidName:
                continue
            return True
        return False

    assert [sign for sign in ignorable() if passes(sign)] == ["\u200c", "\u200d", "\ufe0f"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "a name has 1 to 32 characters, and this one is empty"),
        ("  ", "a name has 1 to 32 characters, and this one is empty"),
        (" \t ", "a name can only contain printable characters: character 2 is U+0009"),
        ("bob\n", "a name can only contain printable characters: character 4 is U+000A"),
        ("\x1fbob", "a name can only contain printable characters: character 1 is U+001F"),
        ("a\nb", "a name can only contain printable characters: character 2 is U+000A"),
        ("\x1b[31mred", "a name can only contain printable characters: character 1 is U+001B"),
        ("a\x9bb", "a name can only contain printable characters: character 2 is U+009B"),
        ("a\udcffb", "a name can only contain printable characters: character 2 is U+DCFF"),
        (
            "a\u00a0b",
            "a name can only contain printable characters: character 2 is U+00A0, no-break space",
        ),
        ("\u0301", "a name needs a character that is visible by itself"),
        ("\u0301 \u0302", "a name needs a character that is visible by itself"),
        ("x" * 33, "a name has 1 to 32 characters, and this one has 33"),
        ("é" * 33, "a name has 1 to 32 characters, and this one has 33"),
        ("x" * 129, "a name has 1 to 32 characters, and this one has 129"),
        (" " * 129 + "x", "a name has 1 to 32 characters, and this one has 130"),
        (None, "a name is text, not None"),
        (b"bob", "a name is text, not b'bob'"),
    ],
    ids=ascii,
)
def test_a_name_that_cannot_be_shown_is_refused(name: object, message: str) -> None:
    with pytest.raises(errors.InvalidName) as raised:
        clean_name(name)  # type: ignore[arg-type]  # that is the point

    assert str(raised.value) == message


@given(st.text())
def test_a_name_is_either_refused_or_clean(name: str) -> None:
    try:
        clean = clean_name(name)
    except errors.InvalidName as refusal:
        assert str(refusal).isprintable()
        assert "\\" not in str(refusal)
    else:
        assert 1 <= len(clean) <= 32
        assert clean.replace("\u200c", "").replace("\u200d", "").isprintable()
        assert unicodedata.is_normalized("NFC", clean)
        assert clean == clean.strip() == clean_name(clean)
        assert Player(clean, Mark.X).name == clean


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("bob", "bob"),
        ("Bob", "bob"),
        ("Straße", "STRASSE"),
        ("Σίσυφος", "ΣΊΣΥΦΟΣ"),
        ("ﬁn", "FIN"),
        ("ｂｏｂ", "bob"),
        ("❤", "❤\ufe0f"),
        ("علیرضا", "علی\u200cرضا"),
        ("Zoe\u034f\u0308", "Zoë"),
        ("bob\u00a0b", "bob b"),
    ],
    ids=ascii,
)
def test_names_that_differ_in_case_or_form_only_are_the_same(one: str, other: str) -> None:
    assert is_same_name(one, other)
    assert is_same_name(other, one)
    assert name_key(one) == name_key(other)


@pytest.mark.parametrize(
    ("one", "other"), [("bob", "rob"), ("bob", "bób"), ("bob", "bоb"), ("a b", "ab")]
)
def test_other_names_are_other_names(one: str, other: str) -> None:
    """An accent, a space, and a letter of another script that looks alike."""
    assert not is_same_name(one, other)


def test_a_recorded_player_keeps_the_recorded_name() -> None:
    """Only its type and its mark are checked."""
    assert Player.recorded(" bob\n", X).name == " bob\n"
    assert Player.recorded("bob", O) == Player("bob", O)
    with pytest.raises(errors.InvalidName, match=r"^a name is text, not 5$"):
        Player.recorded(5, X)  # type: ignore[arg-type]  # that is the point
    with pytest.raises(errors.InvalidArgument, match=r"^a mark is X or O, not 'Y'$"):
        Player.recorded("bob", "Y")  # type: ignore[arg-type]  # that is the point
