"""Analyses over HTTP; `tests/torture/test_web_positions.py` asks for every position."""

from __future__ import annotations

from itertools import islice

from noughts import Mark, describe, prospect, reachable
from noughts.analysis.as_json import prospect_to_dict
from support.web.serving import Server


def test_the_analysis_depends_on_who_started(quick: Server) -> None:
    """Checked for one position in twenty."""
    with quick.client() as client:
        for board in islice(reachable(Mark.O), 0, None, 20):
            found = client.get(f"/analysis?board={board}&first=O").json
            assert found["turn"] == board.turn.value
            assert found["prospect"] == prospect_to_dict(prospect(board))
            assert found["description"] == describe(board)


def test_the_analysis_takes_one_question_at_a_time(quick: Server) -> None:
    with quick.client() as client:
        for query in (
            "",
            "?board=___/___/___&moves=5",
            "?board=___/___/___&board=___/___/___",
            "?moves=5&first=Z",
            "?moves=5&strange=1",
            "?moves",
            "?" + "moves=5&" * 100,
            "?board=" + "_" * 600,
        ):
            refused = client.get(f"/analysis{query}")
            assert (refused.status, refused.code) == (400, "badRequest")
        for moves in ("55", "0", "x", "1234567891", "1-2", "%00", "147258369"):
            refused = client.get(f"/analysis?moves={moves}")
            assert (refused.status, refused.code) == (400, "unreadable")


def test_a_whole_game_is_reviewed(quick: Server) -> None:
    with quick.client() as client:
        found = client.get("/analysis?moves=5162").json
        started = client.get("/analysis?moves=5&first=O").json
    assert found["board"] == "OO_/_XX/___"
    assert [move["cell"] for move in found["review"]["moves"]] == [4, 0, 5, 1]
    assert found["review"]["mistakes"] == [4]
    assert found["review"]["decisive"] == 4
    assert started["board"] == "___/_O_/___"
