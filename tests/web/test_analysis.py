"""Analyses over HTTP: of every position, of whole games, and what is refused."""

from __future__ import annotations

from itertools import islice, product
from typing import get_args

import pytest

from noughts import Board, Mark, NoughtsError, describe, parse_board, prospect, reachable, review
from noughts.analysis.as_json import moves_to_dicts, prospect_to_dict, review_to_dict
from noughts.analysis.coach import advise
from noughts.text.speaker import CellNames
from support.length import short_or_long
from support.web.serving import Client


@pytest.mark.torture
@pytest.mark.parametrize("first", Mark)
def test_the_analysis_of_every_position_is_the_coachs(client: Client, first: Mark) -> None:
    """One of each of the 765 classes of symmetry; in `make torture` all 5,478 positions."""
    boards = [board for board in reachable(first) if short_or_long(board == board.canonical, long=True)]
    assert len(boards) == short_or_long(765, 5478)
    for board in boards:
        assert client.get(f"/analysis?board={board}&first={first.value}").json == {
            "board": str(board),
            "turn": board.turn.value,
            "over": board.is_over,
            "prospect": prospect_to_dict(prospect(board)),
            "moves": moves_to_dicts(advise(board)),
            "description": describe(board),
            "review": None,
        }


@pytest.mark.torture
def test_unreachable_positions_are_refused(client: Client) -> None:
    """One in 35 of the 14,205 impossible boards (in `make torture` one in 7), and other texts."""
    impossible, step = 0, short_or_long(35, 7)
    for marks in islice(product("X_O", repeat=9), 0, None, step):
        text = "/".join("".join(marks[row : row + 3]) for row in (0, 3, 6))
        try:
            parse_board(text, Mark.X)
        except NoughtsError:
            impossible += 1
            assert client.get(f"/analysis?board={text}").code == "unreadable"
    assert impossible > 14_000 / step


EMPTY = "board=___/___/___"


@pytest.mark.parametrize(
    ("code", "queries"),
    [
        (
            "badRequest",
            ("", f"{EMPTY}&moves=5", f"{EMPTY}&{EMPTY}", "moves=5&first=Z", "moves=5&strange=1"),
        ),
        ("badRequest", ("moves=5&cells=numpad", "moves=5&cells=", "moves", "moves=5&" * 100)),
        ("badRequest", ("board=" + "_" * 600,)),
        ("unreadable", [f"moves={moves}" for moves in ("55", "0", "x", "1234567891", "1-2", "%00")]),
        (
            "unreadable",
            ("moves=147258369", "board=X", "board=%00", "board=___/___", "board=" + "_" * 400),
        ),
        ("unreadable", ("board=", "board=___/___/___/___", "board=%F0%9F%99%82__/___/___")),
    ],
)
def test_the_analysis_takes_one_question_at_a_time(client: Client, code: str, queries: list[str]) -> None:
    for query in queries:
        refused = client.get(f"/analysis?{query}")
        assert (refused.status, refused.code) == (400, code), query


def test_a_whole_game_is_reviewed(client: Client) -> None:
    found = client.get("/analysis?moves=5162").json
    assert found["board"] == "OO_/_XX/___"
    assert [move["cell"] for move in found["review"]["moves"]] == [4, 0, 5, 1]
    assert (found["review"]["mistakes"], found["review"]["decisive"]) == ([4], 4)
    assert client.get("/analysis?moves=5&first=O").json["board"] == "___/_O_/___"


def test_cells_are_named_as_asked(client: Client) -> None:
    board = Board.parse("X__/_O_/___")
    for cells in {*get_args(CellNames)} - {"numpad"}:
        found = client.get(f"/analysis?board={board}&cells={cells}").json
        assert found["moves"] == moves_to_dicts(advise(board), cells=cells)
        found = client.get(f"/analysis?moves=5162&cells={cells}").json
        assert found["review"] == review_to_dict(review((4, 0, 5, 1)), cells=cells)


def test_a_link_is_drawn_as_a_qr_code(client: Client) -> None:
    """The longest that is allowed, too."""
    for link in ("http://127.0.0.1:8000/game/a#b", "~" * 300):
        svg = client.post("/qr", {"link": link}).json["svg"]
        assert svg.startswith("<svg")
        assert link not in svg
    for wrong in ("", "a b", "\na", "\ud800", "é", "~" * 301, 5, None):
        refused = client.post("/qr", {"link": wrong})
        assert (refused.status, refused.code) == (400, "badRequest"), wrong
