"""The coach's advice in sentences: what to do and why, with the line that proves it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

from noughts.analysis.coach import Advice
from noughts.analysis.reasons import PLACES, Kind, Reason
from noughts.analysis.solver import Prospect, Result
from noughts.core.board import Mark
from noughts.text.catalogue import ENGLISH, Catalogue
from noughts.text.phrases import CLAUSES, Phrase, better_move, deeds_of, outlook, winning_answer
from noughts.text.speaker import CellNames, Speaker, capitalised

Level: TypeAlias = Literal["child", "player", "exact"]

LEVELS: tuple[Level, ...] = "child", "player", "exact"

_REASONS = {
    Kind.WINS: "reason.wins",
    Kind.GIVES_UP_WIN: "reason.gives_up_win",
    Kind.GIVES_UP_DRAW: "reason.gives_up_draw",
    Kind.ALLOWS_WIN: "reason.allows_win",
    Kind.ALLOWS_FORK: "reason.allows_fork",
    Kind.ALLOWS_FORCED_FORK: "reason.allows_forced_fork",
    Kind.WINS_LATER: "reason.wins_later",
    Kind.LOSES_SOONER: "reason.loses_sooner",
    Kind.BLOCKS: "reason.blocks",
    Kind.MAKES_FORK: "reason.makes_fork",
    Kind.FORCES_FORK: "reason.forces_fork",
    Kind.BLOCKS_FORK: "reason.blocks_fork",
    Kind.STOPS_FORCED_FORK: "reason.stops_forced_fork",
    Kind.ONLY_WIN: "reason.only_win",
    Kind.ONLY_MOVE: "reason.only_move",
    Kind.THREATENS: "reason.threatens",
    Kind.CENTRE: "reason.centre",
    Kind.CORNER: "reason.corner",
    Kind.EDGE: "reason.edge",
}


def say_prospect(prospect: Prospect, wording: Catalogue = ENGLISH) -> str:
    """Describe the prospect of a move exactly.

    >>> from noughts.analysis.solver import Prospect
    >>> say_prospect(Prospect(Result.WIN, 3)), say_prospect(Prospect(Result.DRAW, 5))
    ('win in 3', 'draw')
    """
    return wording.say(f"exact.{prospect.result}", distance=prospect.distance)


def say_reason(
    reason: Reason, mark: Mark, cells: CellNames = "numbers", wording: Catalogue = ENGLISH
) -> str:
    """Describe one reason for or against a move of that mark.

    >>> from noughts.core.notation import parse_board
    >>> from noughts.analysis.coach import judge_move
    >>> advice = judge_move(parse_board("X__/_O_/__X"), 2)
    >>> for reason in advice.reasons:
    ...     print(say_reason(reason, advice.mark))
    It gives up the draw: X wins after 3, 7, 4, 8; 2, 4, 6 or 8 is better.
    It lets X make a fork on 7: 7-8-9 and 1-4-7 (3, 7, 4, 8).
    It threatens 3-5-7.
    It takes a corner, with one line still open.
    """
    speaker = Speaker(wording, cells)
    return speaker.say(
        _REASONS[reason.kind],
        other=mark.other,
        cells=speaker.one_of(reason.cells),
        lines=speaker.lines(reason.lines),
        play=speaker.play(reason.play),
        open=_open_lines(speaker, reason),
    )


def say_advice(
    advice: Advice,
    level: Level = "player",
    cells: CellNames = "numbers",
    wording: Catalogue = ENGLISH,
    *,
    move: str = "move.cell",
) -> str:
    """Say what a move does, in one or two sentences; `move` is the key of how they call the move.

    >>> from noughts.core.notation import parse_board
    >>> from noughts.analysis.coach import judge_move
    >>> advice = judge_move(parse_board("XO_/_X_/__O"), 3)
    >>> say_advice(advice)
    '4 makes two threats at once, 4-5-6 and 1-4-7, and O can stop only one.'
    >>> say_advice(advice, "child", "places")
    'Take the middle left: two threats at once, the middle row and the left column!'
    >>> say_advice(advice, "exact")
    '4: win in 3 (4, 6, 7).'
    """
    speaker = Speaker(wording, cells)
    names = {"mark": advice.mark, "other": advice.mark.other, "cell": speaker.cell(advice.cell)}
    is_in_place = cells == "places" and move == "move.token"
    names["move"] = wording.say("move.token_in_place" if is_in_place else move, **names)
    if level == "exact":
        sentences = _say_exactly(advice, speaker, names)
    else:
        sentences = _say_plainly(advice, level, speaker, names)
    return " ".join(map(capitalised, sentences))


def _say_exactly(advice: Advice, speaker: Speaker, names: Mapping[str, object]) -> Iterator[str]:
    value, play = say_prospect(advice.prospect, speaker.wording), speaker.play(advice.play)
    yield speaker.say("exact.move", value=value, play=play, **names)
    if better := better_move(advice, speaker):
        yield speaker.say("better.sentence", better=speaker.say("better.draws", **better.values))


def _say_plainly(
    advice: Advice, level: Level, speaker: Speaker, names: Mapping[str, object]
) -> Iterator[str]:
    def say(area: str, phrase: Phrase | None) -> str:
        return speaker.say(f"{area}.{phrase.name}", **names, **phrase.values) if phrase else ""

    phrases = [*deeds_of(advice, speaker)]
    if level == "player":
        phrases.sort(key=lambda phrase: phrase.name in CLAUSES)
    deeds = [say(level, phrase) for phrase in phrases]
    if level == "child":  # one thing is enough
        deeds = deeds[-1:] if advice.prospect.result is Result.WIN else deeds[:1]
    answer = say("answer", winning_answer(advice, speaker))
    better = say("better", better_move(advice, speaker))
    if answer:
        frame = "loses" if better else "does_but" if deeds else "is_too_late"
    elif better:
        frame = "misses" if advice.mistake else "is_slow"
    else:
        frame = "does"
        deeds = deeds or [say(level, outlook(advice, speaker))]
    done = speaker.join(deeds)
    yield speaker.say(f"{level}.{frame}", deeds=done, answer=answer, better=better, **names)
    if answer and better:
        yield speaker.say("better.sentence", better=better)


def _open_lines(speaker: Speaker, reason: Reason) -> str:
    count = len(reason.lines) if reason.kind in PLACES else 0
    return speaker.say(
        "reason.open_line" if count == 1 else "reason.open_lines", count=speaker.count(count)
    )
