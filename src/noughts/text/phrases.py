"""What the coach says about a move, in parts: what it does, the answer that beats it, what was better."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from noughts.analysis.coach import Advice
from noughts.analysis.reasons import PLACES, Kind, Reason
from noughts.analysis.solver import Result
from noughts.core.board import Cell
from noughts.core.value import Value
from noughts.text.speaker import Speaker


class Phrase(Value):
    """The last part of a key of the catalogue, and the values that its sentence needs."""

    name: str
    values: Mapping[str, str] = {}


CLAUSES = (
    *("is_safe", "is_safe_in_place", "is_only_safe"),
    *("threat_forces_fork", "threat_forces_fork_in_place"),
)
"""What speaks of the opponent, too, and so comes last in a sentence."""


def deeds_of(advice: Advice, speaker: Speaker) -> Iterator[Phrase]:
    """Yield what a move does for the player, the most urgent first."""
    found = {reason.kind: reason for reason in advice.reasons}
    if wins := found.get(Kind.WINS):
        yield Phrase("wins", {"lines": speaker.lines(wins.lines)})
        return
    if blocks := found.get(Kind.BLOCKS):
        yield Phrase("blocks", {"lines": speaker.lines(blocks.lines)})
    if advice.prospect.result is Result.DRAW and not blocks:
        yield from _prevention(advice, found, speaker)
    fork, forced, threat = (
        found.get(kind) for kind in (Kind.MAKES_FORK, Kind.FORCES_FORK, Kind.THREATENS)
    )
    if fork:
        threats = [next(line for line in fork.lines if cell in line) for cell in fork.cells]
        count = speaker.count(len(threats))
        yield Phrase("makes_fork", {"count": count, "lines": speaker.lines(threats)})
    elif forced and threat:
        lines, next_fork = speaker.lines(threat.lines), speaker.cell(forced.play[2])
        play = speaker.play(forced.play)
        name = short_in_place("threat_forces_fork", speaker)
        yield Phrase(name, {"lines": lines, "fork": next_fork, "play": play})
    elif forced:
        yield Phrase("forces_fork", {"play": speaker.play(forced.play)})
    elif threat:
        yield Phrase("threatens", {"lines": speaker.lines(threat.lines)})


def _prevention(advice: Advice, found: Mapping[Kind, Reason], speaker: Speaker) -> Iterator[Phrase]:
    """Yield which fork a move prevents."""
    if fork := found.get(Kind.BLOCKS_FORK):
        is_here = advice.cell in fork.cells
        where = advice.cell if is_here else fork.cells[0]
        lines = speaker.lines(_through(where, fork))
        yield Phrase(
            "takes_fork" if is_here else "stops_fork", {"fork": speaker.cell(where), "lines": lines}
        )
    elif forced := found.get(Kind.STOPS_FORCED_FORK):
        is_only = len(forced.cells) == advice.prospect.distance - 1  # a draw fills the board
        bad, answer, *_ = map(speaker.cell, forced.play)
        cells, play = speaker.one_of(forced.cells), speaker.play(forced.play)
        name = "is_only_safe" if is_only else short_in_place("is_safe", speaker)
        yield Phrase(name, {"cells": cells, "play": play, "bad": bad, "answer": answer})


def outlook(advice: Advice, speaker: Speaker) -> Phrase:
    """Return what is left to say about a move that does nothing else."""
    lines = next(reason.lines for reason in advice.reasons if reason.kind in PLACES)
    if advice.prospect.distance == 1:
        return Phrase("is_last")
    if not lines:
        return Phrase("keeps_draw")
    return Phrase(
        "has_open_line" if len(lines) == 1 else "has_open_lines", {"count": speaker.count(len(lines))}
    )


def winning_answer(advice: Advice, speaker: Speaker) -> Phrase | None:
    """Return the answer with which the opponent wins, if the move loses."""
    for reason in advice.reasons:
        match reason.kind:
            case Kind.ALLOWS_WIN:
                name = "completes" if len(reason.cells) == 1 else "threatens"
                return Phrase(name, {"lines": speaker.lines(reason.lines)})
            case Kind.ALLOWS_FORK:
                _, fork, *ends = reason.play
                lines = [line for line in _through(fork, reason) if {*ends} & {*line}]
                return Phrase("forks", {"answer": speaker.cell(fork), "lines": speaker.lines(lines)})
            case Kind.ALLOWS_FORCED_FORK:
                answer, play = speaker.cell(reason.play[1]), speaker.play(reason.play)
                name = short_in_place("forces_fork", speaker)
                return Phrase(name, {"answer": answer, "play": play})
    return None


def better_move(advice: Advice, speaker: Speaker) -> Phrase | None:
    """Return what the player should have done, if the move was not best."""
    for reason in advice.reasons:
        match reason.kind:
            case Kind.GIVES_UP_DRAW:
                blocks = any(other.kind is Kind.ALLOWS_WIN for other in advice.reasons)
                values = {"cells": speaker.kind_of(reason.cells), "best": speaker.cell(reason.cells[0])}
                return Phrase("blocks" if blocks else "draws", values)
            case Kind.GIVES_UP_WIN | Kind.WINS_LATER | Kind.LOSES_SOONER:
                best, cells, play = (
                    reason.play[0],
                    speaker.one_of(reason.cells),
                    speaker.play(reason.play),
                )
                if reason.lines:
                    lines = speaker.lines(_through(best, reason))
                    values = {"cells": cells, "best": speaker.cell(best), "lines": lines}
                    return Phrase("completes", values)
                name = "lasts" if reason.kind is Kind.LOSES_SOONER else "wins"
                return Phrase(name, {"cells": cells, "best": speaker.cell(best), "play": play})
    return None


def short_in_place(name: str, speaker: Speaker) -> str:
    """Return which of two phrases to use: in places, a long list of moves would be hard to read."""
    return f"{name}_in_place" if speaker.cells == "places" else name


def _through(cell: Cell, reason: Reason) -> list[tuple[Cell, ...]]:
    return [line for line in reason.lines if cell in line]
