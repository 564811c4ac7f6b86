"""What a token leads to on the short way is what the core tells: in every position, whoever starts."""

from __future__ import annotations

import pytest

from noughts import O, PlaceToken, X, decide, fold
from noughts.core.board import Mark, reachable
from noughts.core.codec import dumps
from noughts.core.events import PlayerNotifyIllegalMove
from noughts.core.game import Game
from noughts.web.placing import after, placed
from noughts.web.streaming import event_frame


@pytest.mark.parametrize("first", [X, O])
def test_every_token_leads_to_what_the_core_tells(first: Mark) -> None:
    """The events, their texts, how they are sent, and the game that they add up to."""
    for board in reachable(first):
        game = Game.at(board)
        for cell in range(9):
            told = decide(game, PlaceToken(board.turn, cell))
            found = placed(game, cell)

            if isinstance(told[0], PlayerNotifyIllegalMove):
                assert found is None
                continue
            assert found is not None
            assert found.events == told
            assert after(game, cell) == fold(told, game)


def test_the_events_are_written_and_sent_as_all_others_are() -> None:
    """Whatever the version is that they come after."""
    game = Game.at(reachable(X)[0])
    found = placed(game, 4)

    assert found is not None
    texts = [dumps(event) for event in found.events]
    assert found.texts == ",".join(texts).encode()
    assert [text for _, _, text, _ in found.entries("key", 1)] == texts
    assert [(kept.key, kept.text, kept.event) for kept in found.kept("key")] == [
        ("key", text, event) for text, event in zip(texts, found.events, strict=True)
    ]
    sent = [event_frame(version, text) for version, text in enumerate(texts, 1207)]
    assert found.frame(1206) == b"".join(sent)
