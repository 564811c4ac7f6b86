"""The page's own rules agree with Python's, in Chromium, in every position: what is refused, and why."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given

from noughts import Board, CreateGame, Event, Game, Mark, PlaceToken, decide, fold
from noughts.core.codec import encode
from support.strategies import histories
from support.web.browser import Users

# What the page makes of every position, each by its events after an earlier one. Much is
# handed over as one text: Playwright takes its time with values of many parts.
POSITIONS = """async (tree) => {
  const page = document.querySelector("script[type=module]").src;
  const { active, boardText, fold, placed, eventsOf, whyNot } = await import(new URL("game.js", page));
  const games = [];
  return JSON.stringify(JSON.parse(tree).map(([from, events]) => {
    const before = from === null ? null : games[from];
    const game = fold(events, before);
    games.push(game);
    const cell = game.moves.at(-1);
    const own = before ? placed(before, cell) : eventsOf([], game.first);
    const { moves, winner, over } = game;
    return {
      board: boardText(game), moves, winner, over, active: active(game),
      refusals: ["X", "O"].map((mark) =>
        [-1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((cell) => whyNot(game, cell, mark) ?? "").join(" ")),
      agrees: JSON.stringify(own) === JSON.stringify(events),
    };
  }));
}"""

HISTORY = """async (events) => {
  const page = document.querySelector("script[type=module]").src;
  const { active, boardText, fold, formatEvent } = await import(new URL("game.js", page));
  const game = fold(events);
  const { moves, players, ready, winner, resigned, over } = game;
  return {
    board: boardText(game), moves, players, ready, winner, resigned, over, active: active(game),
    events: events.map(formatEvent),
  };
}"""


def test_the_page_agrees_on_every_position(users: Users) -> None:
    """All 5,478, for both starters."""
    ann = users.new_user()
    ann.open("/")

    for first in Mark:
        games, tree = every_position(first)
        found = json.loads(ann.page.evaluate(POSITIONS, json.dumps(tree)))

        assert len(games) == 5478
        assert found == [
            {
                "board": str(game.board),
                "moves": list(game.moves),
                "winner": mark_name(game.winner),
                "over": game.is_over,
                "active": mark_name(game.active),
                "refusals": [" ".join(refusals(game.board, mark)) for mark in Mark],
                "agrees": True,
            }
            for game in games
        ]


def test_the_page_agrees_on_every_kind_of_history(users: Users) -> None:
    ann = users.new_user()
    ann.open("/")

    @given(histories())
    def agrees(history: tuple[Event, ...]) -> None:
        game = fold(history)
        assert game

        found = ann.page.evaluate(HISTORY, [encode(event) for event in history])

        assert found == {
            "board": str(game.board),
            "moves": list(game.moves),
            "players": [{"name": player.name, "mark": player.mark.value} for player in game.players],
            "ready": game.is_ready,
            "winner": mark_name(game.winner),
            "resigned": mark_name(game.resigned),
            "over": game.is_over,
            "active": mark_name(game.active),
            "events": [str(event) for event in history],
        }

    agrees()


def every_position(first: Mark) -> tuple[list[Game], list[tuple[int | None, list[Any]]]]:
    """Return each position as a game, and as (earlier game, events since)."""
    start = decide(None, CreateGame(first))
    game = fold(start)
    assert game
    games = [game]
    tree: list[tuple[int | None, list[Any]]] = [(None, encode_all(start))]
    known: dict[Board, int] = {game.board: 0}
    for at, before in enumerate(games):  # it grows while it is walked through
        for cell in () if before.is_over else before.board.free_cells:
            events = decide(before, PlaceToken(before.board.turn, cell))
            after = fold(events, before)
            if after.board not in known:
                known[after.board] = len(games)
                games.append(after)
                tree.append((at, encode_all(events)))
    return games, tree


def refusals(board: Board, mark: Mark) -> list[str]:
    """Return why the mark may not be placed on each cell, and beside the board."""
    found = [board.why_not(cell, mark) for cell in range(-1, 10)]
    return [refusal.reason.value if refusal else "" for refusal in found]


def encode_all(events: tuple[Event, ...]) -> list[Any]:
    return [encode(event) for event in events]


def mark_name(mark: Mark | None) -> str | None:
    return mark.value if mark else None
