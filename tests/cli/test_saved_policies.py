"""Policies in files on the command line: `saved:file=PATH`."""

from __future__ import annotations

from pathlib import Path

import pytest

from noughts import find_policy, odds, save_policy
from support.command import environment
from support.forked import noughts
from support.lab_games import first_free

BOTS = Path(__file__).parents[2] / "docs" / "bots.md"
NAME = "saved:file=q.json"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a policy in it."""
    folder = tmp_path_factory.mktemp("saved")
    save_policy(first_free, folder / "q.json")
    save_policy(find_policy("newell-simon"), folder / "rules.json")
    return folder


def test_a_saved_policy_plays_and_is_found_when_resuming(folder: Path, tmp_path: Path) -> None:
    """By its name, then by its saved name, if the file still exists."""
    env = environment(NOUGHTS_STORE=f"sqlite:{tmp_path / 'games.db'}")

    left = noughts("play", "--o", f"bot:{NAME}", typed="9\n", env=env, cwd=folder)
    refused = noughts("resume", typed="8\n", env=env, cwd=tmp_path)
    resumed = noughts("resume", typed="8\n", env=env, cwd=folder)

    assert (left.returncode, left.stderr) == (resumed.returncode, resumed.stderr) == (0, "")
    assert "\nO|2|3\n-+-+-\n4|5|6\n-+-+-\n7|8|X\n" in left.stdout
    assert refused.stderr == "noughts: q.json cannot be read: No such file or directory\n"
    assert "\nO|O|3\n-+-+-\n4|5|6\n-+-+-\n7|X|X\n" in resumed.stdout


def test_a_saved_policy_has_the_certificate_of_the_policy(folder: Path) -> None:
    ran = noughts("certify", "saved:file=rules.json", "--markdown", cwd=folder)

    head, _, table = ran.stdout.partition("||as X|as O|")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert head.startswith("\n## saved:file=rules.json\n\n**It never loses**: ")
    assert f"{table}\n## perfect\n" in BOTS.read_text(encoding="utf-8")


def test_a_saved_policy_has_the_odds_of_the_policy(folder: Path) -> None:
    found = odds(find_policy("newell-simon"), find_policy("random"))

    ran = noughts("odds", "bot:saved:file=rules.json", "random", cwd=folder)

    assert (ran.returncode, ran.stderr) == (0, "")
    assert [line.split()[-1] for line in ran.stdout.splitlines()[1:]] == [
        str(part) for part in (found.x, found.draw, found.o, found.length)
    ]


@pytest.mark.parametrize("command", ["play", "watch", "resume", "odds", "tournament"])
def test_the_help_says_how_a_file_is_named(command: str) -> None:
    assert "saved:file=PATH" in noughts(command, "--help").stdout
