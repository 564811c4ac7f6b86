"""The coach's advice in sentences: what to do and why, with the line that proves it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

from noughts.analysis.coach import Advice
from noughts.analysis.solver import Prospect, Result
from noughts.text.catalogue import ENGLISH, Catalogue
from noughts.text.phrases import CLAUSES, Phrase, better_move, deeds_of, outlook, winning_answer
from noughts.text.speaker import CellNames, Speaker, capitalised

Level: TypeAlias = Literal["child", "player", "exact"]

LEVELS: tuple[Level, ...] = "child", "player", "exact"

MoveName: TypeAlias = Literal["cell", "hint", "token"]
"""A move is called by its cell ("5"), recommended ("take 5"), or is a token on the board ("X on 5")."""


def say_prospect(prospect: Prospect, wording: Catalogue = ENGLISH) -> str:
    """Describe the prospect of a move exactly.

    >>> from noughts.analysis.solver import Prospect
    >>> say_prospect(Prospect(Result.WIN, 3)), say_prospect(Prospect(Result.DRAW, 5))
    ('win in 3', 'draw')
    """
    return wording.say(f"exact.{prospect.result}", distance=prospect.distance)


def say_advice(
    advice: Advice,
    level: Level = "player",
    cells: CellNames = "numbers",
    wording: Catalogue = ENGLISH,
    *,
    move: MoveName = "cell",
) -> str:
    """Say what a move does, in one or two sentences; `move` says how they call it.

    >>> from noughts.core.notation import parse_board
    >>> from noughts.analysis.coach import judge_move
    >>> advice = judge_move(parse_board("XO_/_X_/__O"), 3)
    >>> say_advice(advice)
    '4 makes two threats at once, 4-5-6 and 1-4-7, and O can stop only one.'
    >>> say_advice(advice, "child", "places")
    'Take the middle left: two threats at once, the middle row and the left column!'
    >>> say_advice(advice, "exact")
    '4: win in 3 (4, then 6, 7).'
    """
    speaker = Speaker(wording, cells)
    names = {"mark": advice.mark, "other": advice.mark.other, "cell": speaker.cell(advice.cell)}
    is_in_place = cells == "places" and move == "token"
    names["move"] = wording.say("move.token_in_place" if is_in_place else f"move.{move}", **names)
    if level == "exact":
        sentences = _say_exactly(advice, speaker, names)
    else:
        sentences = _say_plainly(advice, level, speaker, move, names)
    return " ".join(map(capitalised, sentences))


def _say_exactly(advice: Advice, speaker: Speaker, names: Mapping[str, object]) -> Iterator[str]:
    value, play = say_prospect(advice.prospect, speaker.wording), speaker.whole_play(advice.play)
    yield speaker.say("exact.move", value=value, play=play, **names)
    if better := better_move(advice, speaker):
        yield speaker.say("better.sentence", better=speaker.say("better.draws", **better.values))


def _say_plainly(
    advice: Advice, level: Level, speaker: Speaker, move: MoveName, names: Mapping[str, object]
) -> Iterator[str]:
    def say(area: str, phrase: Phrase | None) -> str:
        return speaker.say(f"{area}.{phrase.name}", **names, **phrase.values) if phrase else ""

    phrases = [*deeds_of(advice, speaker)]
    if level == "child":  # one thing is enough
        phrases = phrases[-1:] if advice.prospect.result is Result.WIN else phrases[:1]
    phrases.sort(key=lambda phrase: phrase.name in CLAUSES)
    # For a child, advice says "take 5!", which makes no sense once the move is made.
    area: str = "player" if move == "token" else level
    deeds = [say(area, phrase) for phrase in phrases]
    answer = say("answer", winning_answer(advice, speaker))
    better = say("better", better_move(advice, speaker))
    if answer and move == "hint":
        area, frame = "hint", "lost" if deeds else "too_late"
    elif answer:
        frame = "loses" if better else "does_but" if deeds else "is_too_late"
    elif better:
        frame = "misses" if advice.mistake else "is_slow"
    else:
        frame = "does"
        deeds = deeds or [say(area, outlook(advice, speaker))]
    done = speaker.join(deeds)
    yield speaker.say(f"{area}.{frame}", deeds=done, answer=answer, better=better, **names)
    if answer and better:
        yield speaker.say("better.sentence", better=better)
