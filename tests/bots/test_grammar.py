"""How players are written: people, bots and programs."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from noughts import errors
from noughts.bots.grammar import BOT, BOT_NAMES, PROGRAM, parse_player, parse_policy
from noughts.bots.registry import BUILT_IN

TEXTS = st.one_of(
    st.text(max_size=20),
    st.builds(
        "".join,
        st.lists(
            st.sampled_from([*BOT_NAMES, BOT, PROGRAM, "Bot:", "saved", ":", " ", "ann", "=1", "B"])
        ),
    ),
)


def test_the_names_of_the_built_in_bots_are_known_without_loading_them() -> None:
    """They are the same, in the same order."""
    assert tuple(BUILT_IN) == BOT_NAMES


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("ann", ("", "ann")),
        (" Zo\u00eb ", ("", "Zo\u00eb")),
        ("", ("", "")),
        ("saved", ("", "saved")),
        ("perfectionist", ("", "perfectionist")),
        ("ann:club", ("", "ann:club")),
        ("bot:club", (BOT, "club")),
        (" bot:club:block=1/3 ", (BOT, "club:block=1/3")),
        ("BOT:club", (BOT, "club")),
        ("bot:", (BOT, "")),
        ("program:./my-bot --fast", (PROGRAM, "./my-bot --fast")),
        ("Program:./my-bot", (PROGRAM, "./my-bot")),
        ("program:bot:club", (PROGRAM, "bot:club")),
    ],
)
def test_a_player_is_a_person_a_bot_or_a_program(text: str, parsed: tuple[str, str]) -> None:
    """By what the text begins with."""
    assert parse_player(text) == parsed


@pytest.mark.parametrize(
    ("text", "right"),
    [
        *((name, f"bot:{name}") for name in BOT_NAMES),
        ("Perfect", "bot:perfect"),
        ("\uff30erfect", "bot:perfect"),
        (" MENACE ", "bot:menace"),
        ("club:block=1/3", "bot:club:block=1/3"),
        ("Club : block=1/3", "bot:club: block=1/3"),
        ("menace:file=/tmp/m.json", "bot:menace:file=/tmp/m.json"),
        ("saved:file=q.json", "bot:saved:file=q.json"),
        (f"saved:file={'q' * 100_000}", "bot:saved:\u2026"),
    ],
)
def test_a_person_cannot_have_the_name_of_a_bot(text: str, right: str) -> None:
    """Whoever types it means the bot, and is shown how to write that."""
    with pytest.raises(errors.InvalidName) as refused:
        parse_player(text)
    assert str(refused.value).endswith(f"is a bot, not a person: write {right}")
    assert len(str(refused.value)) < 150


@pytest.mark.parametrize("text", ["\uff42ot:perfect", "PROGRA\uff2d:./x"])
def test_a_person_cannot_look_like_a_bot_or_a_program(text: str) -> None:
    """A name in other forms of the same letters is the same name."""
    with pytest.raises(errors.InvalidName, match="only looks like a player that begins with"):
        parse_player(text)


@pytest.mark.parametrize("text", ["bot:bot:club", "bot:program:./x", "bot:BOT:club"])
def test_what_says_twice_what_it_is_is_refused(text: str) -> None:
    """Nothing is guessed."""
    for bots_only in (False, True):
        with pytest.raises(errors.UnknownPolicy, match="says twice what it is"):
            parse_player(text, bots_only=bots_only)


def test_a_policy_has_one_name_in_both_spellings() -> None:
    """With its parameters."""
    assert parse_policy("bot:club:win=0") == parse_policy("club:win=0") == "club:win=0"


def test_a_program_is_not_a_policy() -> None:
    """Where only a bot can be named, that is what is said."""
    with pytest.raises(
        errors.UnknownPolicy, match=r"^'program:\./x' is a program, and only a bot can be"
    ):
        parse_policy("program:./x")


@given(TEXTS)
def test_no_person_is_called_like_a_bot(text: str) -> None:
    """Whatever is typed: a person, or a bot, or a program, or a refusal."""
    try:
        kind, rest = parse_player(text)
    except errors.NoughtsError as refused:
        assert str(refused)
        return
    assert kind in ("", BOT, PROGRAM)
    if not kind:
        assert not rest.lower().startswith((BOT, PROGRAM))
        assert rest.partition(":")[0].strip().lower() not in BOT_NAMES


@given(TEXTS)
def test_a_bot_is_the_same_with_and_without_its_prefix(text: str) -> None:
    """Where only bots can play; unless the text says what it is already."""
    try:
        policy = parse_policy(f"bot:{text}")
    except errors.UnknownPolicy:
        return
    assert policy == text.rstrip()
    if text == text.strip():
        assert parse_policy(text) == policy
