"""`noughts certify`: the page of all built-in bots, and the certificate of any other."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

from noughts import O, X
from noughts.analysis.solver import Result
from noughts.bots.certificate import certify
from noughts.bots.menace.file import save_machine
from noughts.bots.menace.machine import Menace
from noughts.bots.odds import odds
from noughts.bots.policy import CachedPolicy
from noughts.bots.registry import BUILT_IN, find_policy
from support.forked import noughts

PAGE = Path(__file__).parents[2] / "docs" / "bots.md"


def rows(text: str) -> dict[str, tuple[str, str]]:
    """Return the rows of a certificate's table, for X and for O."""
    cells = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return {cell[0]: (cell[1], cell[2]) for cell in cells if len(cell) == 3}


def test_the_page_in_the_docs_is_up_to_date(env: dict[str, str]) -> None:
    """It is the output of the command, with a section for every built-in bot."""
    ran = noughts("certify", "--markdown", env=env)

    assert (ran.returncode, ran.stderr) == (0, "")
    assert [line[3:] for line in ran.stdout.splitlines() if line.startswith("## ")] == [*BUILT_IN]
    assert ran.stdout == PAGE.read_text(encoding="utf-8")


def test_several_bots_are_certified_and_agree_with_the_library(env: dict[str, str]) -> None:
    careful = "club:win=0,block=0,fork=0,defence=0,centre=0"

    ran = noughts("certify", careful, "perfect", "--markdown", env=env)

    policy, perfect = CachedPolicy(find_policy(careful)), find_policy("perfect")
    seats = [certify(policy, mark) for mark in (X, O)]
    every = sum(sum(seat.games.values()) for seat in seats)
    first = ran.stdout.partition("\n## perfect\n")[0]
    table = rows(first)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert first.startswith(f"\n## {careful}\n\n")
    assert f"**It never loses**: in none of all {every:,} games, whatever the opponent does.\n" in first
    assert table["the least score"] == tuple(str(seat.least) for seat in seats)
    assert table["games won / drawn / lost"] == tuple(
        " / ".join(f"{seat.games[result]:,}" for result in Result) for seat in seats
    )
    assert _scores(table["against `perfect`"]) == [
        str(odds(policy, perfect).score(X)),
        str(odds(perfect, policy).score(O)),
    ]
    assert ran.stdout.removeprefix(first) in PAGE.read_text(encoding="utf-8")


def _scores(cells: tuple[str, str]) -> list[str]:
    return [cell.rpartition("score ")[2] for cell in cells]


def test_a_certificate_as_data_agrees_with_the_library(env: dict[str, str]) -> None:
    """Fractions are exact, as text, and approximate, as numbers."""
    ran = noughts("certify", "club", "--json", env=env)

    (found,) = json.loads(ran.stdout)
    assert found["name"] == "club"
    for mark in (X, O):
        seat, now = certify(find_policy("club"), mark), found[str(mark).lower()]
        assert now["games"] == {str(result): count for result, count in seat.games.items()}
        assert Fraction(now["worst"]["chance"]) == seat.worst.chance
        assert (now["worst"]["result"], tuple(now["worst"]["line"])) == ("loss", seat.worst.line)
        assert Fraction(now["least"]["score"]) == seat.least
        for name, known in (("random", seat.against_random), ("perfect", seat.against_perfect)):
            against = now[f"against_{name}"]
            assert Fraction(against["score"]) == known.score(mark)
            assert against["about"]["win"] == float(known.win(mark))


def test_a_saved_machine_is_certified_as_it_is_now(env: dict[str, str], tmp_path: Path) -> None:
    machine = Menace()
    for _ in range(40):
        machine.learn((0, 4, 1, 2, 8, 6), X)  # so lost that its first box has no bead for a corner
    save_machine(machine, tmp_path / "noughts" / "menace.json")

    ran = noughts("certify", "menace", "--markdown", env=env)

    assert (ran.returncode, ran.stderr) == (0, "")
    assert rows(ran.stdout)["the least score"][0] == str(certify(machine, X).least)
