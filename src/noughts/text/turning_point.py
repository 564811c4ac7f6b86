"""What decided a game, in one sentence; and what each of its moves did."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from noughts.analysis.coach import Advice, Review
from noughts.analysis.reasons import best_play
from noughts.analysis.solver import Result
from noughts.core.board import Mark
from noughts.core.game import Game
from noughts.text.catalogue import ENGLISH, Catalogue
from noughts.text.describe import player_of, standing
from noughts.text.phrases import better_move, short_in_place, winning_answer
from noughts.text.sentences import Level, say_advice
from noughts.text.speaker import CellNames, Speaker, capitalised


def say_turning_point(
    review: Review,
    game: Game,
    cells: CellNames = "numbers",
    wording: Catalogue = ENGLISH,
    names: Callable[[Game, Mark], str] | None = None,
) -> str:
    """Say which move decided a game, and what was better; or that nobody made a mistake.

    `names` says what to call the players.

    >>> from noughts.analysis.coach import review
    >>> from noughts.core.notation import parse_board
    >>> say_turning_point(review((0, 3, 1, 4, 2)), Game.at(parse_board("XXX/OO_/___")))
    'The game turned on move 2: O took 4 and let X force a fork (4, then 2, 3, 5, 9, 8); 5 was better.'
    """
    speaker = Speaker(wording, cells)
    name = names or partial(player_of, wording=wording)
    if game.resigned:
        is_on_turn = game.resigned is game.board.turn
        worth = review.standing.result if is_on_turn else review.standing.result.other
        if worth is not Result.LOSS:
            player, play = name(game, game.resigned), best_play(game.board)
            is_next_move = worth is Result.WIN and len(play) == 1
            key = "review.resigned_win_at_once" if is_next_move else f"review.resigned_{worth}"
            return capitalised(wording.say(key, player=player, play=speaker.play(play)))
    if review.decisive is None:
        return wording.say("review.flawless" if game.is_over else "review.flawless_so_far")
    advice = review.moves[review.decisive - 1]
    is_cancelled = review.standing.result is Result.DRAW
    key = "cancelled" if is_cancelled else "turned" if game.is_over else "turned_so_far"
    return wording.say(
        f"review.{key}",
        number=review.decisive,
        player=name(game, advice.mark),
        cell=speaker.cell(advice.cell),
        mistake=say_mistake(advice, name(game, advice.mark.other), speaker),
    )


def say_review(
    review: Review,
    game: Game,
    level: Level = "player",
    cells: CellNames = "numbers",
    wording: Catalogue = ENGLISH,
    names: Callable[[Game, Mark], str] | None = None,
) -> list[str]:
    """Return what decided a game, who played, what each move did, and how it ended, a line each."""
    found = [say_turning_point(review, game, cells, wording, names)]
    if names:
        known = {mark: names(game, mark) for mark in Mark}
        seats = [
            wording.say("review.name", mark=mark, player=name)
            for mark, name in known.items()
            if name != wording.say("game.player", mark=mark)
        ]
        if seats:
            found.append(f"{', '.join(seats)}.")
        game = game.replace(players=())  # the lines below say X and O
    elif game.players:
        x, o = (player_of(game, mark, wording) for mark in Mark)
        found.append(wording.say("review.players", x=x, o=o))
    for number, advice in enumerate(review.moves, 1):
        said = say_advice(advice, level, cells, wording, move="token")
        found.append(wording.say("review.move", number=number, said=said))
    return [*found, say_end(game, wording, cells)]


def say_end(game: Game, wording: Catalogue = ENGLISH, cells: CellNames = "numbers") -> str:
    """Say how a game ended, or who is to move, without changing the case of a name."""
    found = standing(game, wording, cells)
    return f"{capitalised(found) if game.is_draw else found}."


def say_mistake(advice: Advice, other: str, speaker: Speaker) -> str:
    """Say what a mistake missed or allowed, and what was better."""
    answer, better = winning_answer(advice, speaker), better_move(advice, speaker)
    instead = ""
    if better:
        is_list = better.name in ("wins", "draws")
        name = short_in_place(better.name, speaker) if is_list else better.name
        instead = speaker.say(f"instead.{name}", **better.values)
    if answer is None:
        return speaker.say("review.missed", instead=instead)
    allowed = speaker.say(f"allowed.{answer.name}", other=other, **answer.values)
    return speaker.say("review.allowed", allowed=allowed, instead=instead)
