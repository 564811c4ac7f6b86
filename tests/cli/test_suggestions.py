"""What is mistyped is refused with what was probably meant."""

from __future__ import annotations

import pytest

from noughts.bots.registry import BUILT_IN, parse_player
from noughts.cli.main import COMMANDS
from support.at_once import run_code
from support.forked import noughts

MISTYPED = [
    ("plya", "noughts: unknown command 'plya' (did you mean play?)"),
    ("Play", "noughts: unknown command 'Play' (did you mean play?)"),
    ("help", "noughts: unknown command 'help' (did you mean --help?)"),
    ("--hepl play", "noughts: unknown option '--hepl' (did you mean --help?)"),
    ("xyzzy", "noughts: unknown command 'xyzzy'"),
    (
        "menace trian",
        "noughts menace: argument TASK: 'trian' is not one of train, box (did you mean train?)",
    ),
    ("play --colour never", "noughts play: unknown option '--colour' (did you mean --color?)"),
    ("play --colour=never", "noughts play: unknown option '--colour' (did you mean --color?)"),
    ("play -x ann", "noughts play: unknown option '-x' (did you mean --x?)"),
    ("play --nonesuch", "noughts play: unknown option '--nonesuch'"),
    (
        "play --wording kta",
        "noughts play: argument --wording: 'kta' is not one of narrative, gem, kata (did you mean kata?)",
    ),
    ("show 5 6", "noughts show: unexpected argument '6'"),
]
NAMES = ", ".join(BUILT_IN)


@pytest.mark.parametrize(("words", "refusal"), MISTYPED)
def test_the_command_line_is_refused_with_a_suggestion(words: str, refusal: str) -> None:
    """The help that is named is the command's own."""
    ran = noughts(*words.split())

    prog = refusal.partition(":")[0]
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == f"{refusal}\nTry '{prog} --help'.\n"


@pytest.mark.parametrize(
    ("player", "refusal"),
    [
        ("bots:club", "'bots:club' is not a player (did you mean bot:club?)\n"),
        ("boot:Hard", "'boot:Hard' is not a player (did you mean bot:club?)\n"),
        ("prog:./x", "'prog:./x' is not a player (did you mean program:./x?)\n"),
        ("bot:hard", "unknown policy 'hard' (did you mean club, the level Hard?): choose one of "),
        ("bot:esay", "unknown policy 'esay' (did you mean novice, the level Easy?): choose one of "),
    ],
)
def test_a_player_is_refused_with_a_suggestion(player: str, refusal: str) -> None:
    ran = noughts("play", "--o", player)

    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.startswith(f"noughts: {refusal}")


def test_a_person_may_have_a_colon_in_the_name() -> None:
    assert parse_player("bob: the first") == ("", "bob: the first")


@pytest.mark.parametrize("command", ["play --o bot:prefect", "odds prefect random", "certify Prefect"])
def test_a_bot_is_suggested(command: str) -> None:
    ran = noughts(*command.split())

    assert ran.returncode == 2
    assert f"refect' (did you mean perfect?): choose one of {NAMES}" in ran.stderr


def test_a_command_with_two_letters_swapped_is_found() -> None:
    for command in COMMANDS:
        for at in range(len(command) - 1):
            swapped = command[:at] + command[at + 1] + command[at] + command[at + 2 :]
            if swapped != command:
                assert f"(did you mean {command}?)" in noughts(swapped).stderr, swapped


def test_suggestions_cost_nothing_until_they_are_needed() -> None:
    code = (
        "import sys; from noughts.cli.main import run; run(sys.argv[1:]); print('difflib' in sys.modules)"
    )

    assert run_code(code, "show", "5").stdout.endswith("False\n")
