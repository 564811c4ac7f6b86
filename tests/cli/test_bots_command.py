"""`noughts bots`: every bot, with its level and its exact strength."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from functools import cache
from pathlib import Path

from noughts.bots.certificate import certify
from noughts.bots.odds import percent
from noughts.bots.policy import CachedPolicy
from noughts.bots.registry import BUILT_IN, LEVELS, built_in_parameters, find_policy, policy_names
from noughts.cli.main import build_parser
from noughts.core.board import Mark
from support.forked import noughts
from support.third_party_bots import offered


@cache
def scores(name: str) -> dict[str, Fraction]:
    """Return what a bot scores over both seats, from its certificates."""
    policy = CachedPolicy(find_policy(name))
    both = [(certify(policy, mark), mark) for mark in Mark]
    return {
        "random": sum((seat.against_random.score(mark) for seat, mark in both), Fraction()) / 2,
        "perfect": sum((seat.against_perfect.score(mark) for seat, mark in both), Fraction()) / 2,
    }


def test_every_bot_is_listed_with_its_exact_strength(env: dict[str, str]) -> None:
    """In a narrow terminal, and with what a bot can be named."""
    data, text = (noughts("bots", *options, env=env) for options in (["--json"], []))
    assert (data.returncode, data.stderr) == (text.returncode, text.stderr) == (0, "")
    lines = [line.split() for line in text.stdout.splitlines() if line.startswith("bot:")]

    found = json.loads(data.stdout)

    assert [bot["name"] for bot in found] == [name for name in policy_names() if name in BUILT_IN]
    assert [line[0] for line in lines] == [f"bot:{bot['name']}" for bot in found]
    for bot, line in zip(found, lines, strict=True):
        exact = scores(bot["name"])
        level = next((level for level, name in LEVELS.items() if name == bot["name"]), None)
        assert {rival: Fraction(score) for rival, score in bot["scores"].items()} == exact
        assert bot["about"] == {rival: float(score) for rival, score in exact.items()}
        assert (bot["level"], tuple(bot["parameters"])) == (level, built_in_parameters(bot["name"]))
        shown = " ".join(percent(score) for score in exact.values())
        assert " ".join(line[1:]) == f"{level or ''} {shown}".strip()
        assert bot["description"] == BUILT_IN[bot["name"]].description
        assert bot["description"] in " ".join(text.stdout.split())

    assert max(map(len, text.stdout.splitlines())) < 80
    for name in ("bot:club", "bot:saved:file=PATH", "program:COMMAND", *built_in_parameters("club")):
        assert name in text.stdout
    for line in re.findall(r"^  (noughts \S+(?: \S+)+)(?:  |$)", text.stdout, re.MULTILINE):
        words = line.split()[1:]
        assert build_parser(words).parse_args(words).command == words[0]


def test_other_bots_are_listed_if_they_can_play(tmp_path: Path) -> None:
    """Those of other packages, and the user's own machine."""
    (tmp_path / "noughts").mkdir()
    (tmp_path / "noughts" / "menace.json").write_text("{}")

    ran = noughts("bots", env=offered(tmp_path))

    assert ran.returncode == 0
    assert [line.split(" is skipped: ")[0] for line in ran.stderr.splitlines()] == [
        *("noughts: menace", "noughts: broken", "noughts: needy")
    ]
    assert "bot:menace" not in ran.stdout
    assert "bot:fine                        50.0 %     2.2 %\n  A bot of another package.\n" in ran.stdout


def test_the_machine_is_the_one_that_would_play(env: dict[str, str]) -> None:
    noughts("menace", "train", "--games", "300", "--seed", "1", env=env)

    *_, menace = json.loads(noughts("bots", "--json", env=env).stdout)

    assert menace["name"] == "menace"
    assert menace["description"].endswith("; yours has learned from 300 games.")
    assert Fraction(menace["scores"]["random"]) != scores("menace")["random"]
