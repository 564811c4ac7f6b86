"""A mistyped command is refused with the one that was probably meant, at no cost to other commands."""

from __future__ import annotations

import pytest

from noughts.bots.registry import parse_player
from noughts.cli.main import COMMANDS, build_parser
from support.at_once import run_code
from support.forked import noughts

SWAPPED = [
    (command[:at] + command[at + 1] + command[at] + command[at + 2 :], command)
    for command in COMMANDS
    for at in range(len(command) - 1)
    if command[at] != command[at + 1]
]


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


def test_a_command_with_two_letters_swapped_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    for swapped, command in SWAPPED:
        with pytest.raises(SystemExit):
            build_parser([swapped]).parse_args([swapped])
        assert f"unknown command {swapped!r} (did you mean {command}?)" in capsys.readouterr().err


def test_suggestions_cost_nothing_until_they_are_needed() -> None:
    code = (
        "import sys; from noughts.cli.main import run; run(sys.argv[1:]); print('difflib' in sys.modules)"
    )

    assert run_code(code, "show", "5").stdout.endswith("False\n")
