"""Analyses over HTTP; `tests/torture/test_web_positions.py` asks for every position."""

from __future__ import annotations

from itertools import islice
from typing import get_args

from noughts import Board, Mark, describe, prospect, reachable, review
from noughts.analysis.as_json import moves_to_dicts, prospect_to_dict, review_to_dict
from noughts.analysis.coach import advise
from noughts.text.speaker import CellNames
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
            "?moves=5&cells=numpad",
            "?moves=5&cells=",
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


def test_cells_are_named_as_asked(quick: Server) -> None:
    board = Board.parse("X__/_O_/___")
    with quick.client() as client:
        for cells in get_args(CellNames):
            if cells != "numpad":
                found = client.get(f"/analysis?board={board}&cells={cells}").json
                assert found["moves"] == moves_to_dicts(advise(board), cells=cells)
                found = client.get(f"/analysis?moves=5162&cells={cells}").json
                assert found["review"] == review_to_dict(review((4, 0, 5, 1)), cells=cells)


def test_a_link_is_drawn_as_a_qr_code(quick: Server) -> None:
    """The longest that is allowed, too."""
    with quick.client() as client:
        for link in ("http://127.0.0.1:8000/game/a#b", "~" * 300):
            svg = client.post("/qr", {"link": link}).json["svg"]
            assert svg.startswith("<svg")
            assert link not in svg
        for wrong in ("", "a b", "\na", "\ud800", "é", "~" * 301, 5, None):
            refused = client.post("/qr", {"link": wrong})
            assert (refused.status, refused.code) == (400, "badRequest"), wrong
