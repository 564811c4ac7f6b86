"""What a token leads to on the short way is what the core tells: in every position, whoever starts."""

from __future__ import annotations

from functools import reduce

import pytest

from noughts import O, PlaceToken, X, decide, fold
from noughts.core.board import Board, Mark, reachable
from noughts.core.codec import dumps
from noughts.core.events import PlayerNotifyIllegalMove
from noughts.core.game import Game
from noughts.core.player import Player
from noughts.store.appends import append_of
from noughts.web.placing import after, placed
from noughts.web.streaming import event_frame


@pytest.mark.parametrize("first", [X, O])
def test_every_token_leads_to_what_the_core_tells(first: Mark) -> None:
    """The events, their texts, how they are kept and sent, and the game that they add up to."""
    players = Player("Ann", X), Player("Bob", O)
    for board in reachable(first):
        game = Game.at(board).replace(players=players, is_ready=True)
        for cell in range(9):
            told = decide(game, PlaceToken(board.turn, cell))
            found = placed(game, cell)

            if isinstance(told[0], PlayerNotifyIllegalMove):
                assert found is None
                continue
            assert found is not None
            assert found.events == told
            assert after(game, cell) == fold(told, game)


@pytest.mark.parametrize("cells", [[], [0, 3, 1, 4], [0, 1, 2, 4, 3, 5, 7, 6]])
def test_the_events_are_written_and_sent_as_all_others_are(cells: list[int]) -> None:
    """Whether the game goes on after them, is won or drawn, and whatever version they come after."""
    game = Game.at(reduce(Board.place, cells, Board()))
    found = placed(game, 8 if len(cells) == 8 else 2)

    assert found is not None
    texts = [dumps(event) for event in found.events]
    assert found.texts == ",".join(texts).encode()
    append, usual = found.append("game", 7, "key", 1), append_of("game", 7, found.events, key="key", at=1)
    for field in ("game", "expected", "text", "count", "key", "at", "change"):
        assert getattr(append, field) == getattr(usual, field)
    assert [(kept.key, kept.text, kept.event) for kept in found.kept("key")] == [
        ("key", text, event) for text, event in zip(texts, found.events, strict=True)
    ]
    sent = [event_frame(version, text) for version, text in enumerate(texts, 1207)]
    assert found.frame(1206) == b"".join(sent)
