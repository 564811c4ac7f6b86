"""The coach's findings as sentences."""

from __future__ import annotations

import re
from functools import cache

import pytest

from noughts import Board, Mark, O, X, parse_board, reachable
from noughts.analysis.coach import Advice, advise, judge_move
from noughts.analysis.reasons import Kind, Reason
from noughts.analysis.solver import Prospect, Result, prospect
from noughts.text.sentences import say_advice, say_prospect, say_reason

BETTER = {Kind.GIVES_UP_WIN, Kind.GIVES_UP_DRAW, Kind.WINS_LATER, Kind.LOSES_SOONER}
FORKS = {Kind.ALLOWS_FORK, Kind.BLOCKS_FORK}
SHOWN_LINES = {Kind.WINS, Kind.ALLOWS_WIN, Kind.ALLOWS_FORK, Kind.BLOCKS, Kind.MAKES_FORK, Kind.THREATENS}
FORCED = {Kind.ALLOWS_FORCED_FORK, Kind.FORCES_FORK, Kind.STOPS_FORCED_FORK}
SHOWN_PLAY = {Kind.GIVES_UP_WIN, Kind.ALLOWS_FORK, Kind.LOSES_SOONER, Kind.MAKES_FORK, *FORCED}
EMPTY_LIST = re.compile(
    r"\b(or|and|on|after|complete|completes|threatens)\b(?! \w)"  # nothing comes after
    r"|(?<!\d) (or|and) \d"  # nothing comes before
)
SENTENCE = re.compile(r"It [a-z]+ [^.]*[^ .,:;(]\.")


@cache
def all_advice() -> tuple[Advice, ...]:
    """Return the coach's advice on every move, by X and by O."""
    return tuple(one for board in reachable() for one in advise(board))


@cache
def all_sentences() -> tuple[tuple[Advice, Reason, str], ...]:
    """Return every reason of every move, with its sentence."""
    return tuple(
        (one, reason, say_reason(reason, one.mark)) for one in all_advice() for reason in one.reasons
    )


def counted(cells: tuple[int, ...]) -> list[str]:
    """Return cells counted from 1."""
    return ["123456789"[cell] for cell in cells]


def test_every_reason_makes_one_sentence() -> None:
    """It begins with It and ends with its only period."""
    assert len(all_advice()) == 16_167
    for sentence in {sentence for _, _, sentence in all_sentences()}:
        assert SENTENCE.fullmatch(sentence), sentence
        for wrong in ("{", "}", "  ", "()", " ,", " :", " .", ",,", ": (", ": ;", "\n", "None"):
            assert wrong not in sentence, sentence
        assert not EMPTY_LIST.search(sentence), sentence


def test_cells_are_counted_from_1_to_9() -> None:
    for sentence in {sentence for _, _, sentence in all_sentences()}:
        assert all(number in "123456789" for number in re.findall(r"\d+", sentence)), sentence


def test_only_the_opponent_is_named() -> None:
    named = set()
    for one, reason, sentence in all_sentences():
        assert str(one.mark) not in sentence, sentence
        if str(one.mark.other) in sentence:
            named.add(reason.kind)
    assert named == {
        Kind.GIVES_UP_DRAW,
        Kind.ALLOWS_WIN,
        Kind.ALLOWS_FORK,
        Kind.ALLOWS_FORCED_FORK,
        Kind.BLOCKS,
        Kind.BLOCKS_FORK,
        Kind.STOPS_FORCED_FORK,
    }


def test_what_was_better_is_named() -> None:
    for _, reason, sentence in all_sentences():
        if reason.kind in BETTER:
            assert f": {one_of(counted(reason.cells))} is better" in sentence.replace("; ", ": "), (
                sentence
            )


def test_the_moves_that_force_or_allow_a_fork_are_named() -> None:
    for _, reason, sentence in all_sentences():
        if reason.kind in FORCED - {Kind.FORCES_FORK}:
            assert re.search(rf"fork,? (with|unlike) {one_of(counted(reason.cells))} \(", sentence), (
                sentence
            )


def test_where_a_fork_is_to_be_made_is_named() -> None:
    for _, reason, sentence in all_sentences():
        if reason.kind in FORKS:
            found = re.search(r"fork on ([^:.]*)[:.]", sentence)
            assert found is not None, sentence
            assert found[1] == one_of(counted(reason.cells)), sentence


def one_of(words: list[str]) -> str:
    """Return a list that ends with an or."""
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def test_lines_are_written_with_dashes() -> None:
    for _, reason, sentence in all_sentences():
        wanted = ["-".join(counted(line)) for line in reason.lines] if reason.kind in SHOWN_LINES else []
        assert re.findall(r"\d-\d-\d", sentence) == wanted, sentence


def test_the_moves_that_show_it_are_written_out() -> None:
    for _, reason, sentence in all_sentences():
        play = ", ".join(counted(reason.play))
        if reason.kind is Kind.GIVES_UP_DRAW:
            assert f" after {play};" in sentence
        elif reason.kind is Kind.WINS_LATER:
            assert f" ({play}):" in sentence
        elif reason.kind in SHOWN_PLAY:
            assert sentence.endswith(f" ({play}).")
        else:
            assert "(" not in sentence


EXAMPLES: dict[Kind, list[tuple[str, int, str]]] = {
    Kind.WINS: [
        ("XX_/OO_/___", 3, "It completes 1-2-3."),
        ("XX_/OOX/OOX", 3, "It completes 1-2-3 and 3-6-9."),
    ],
    Kind.GIVES_UP_WIN: [
        ("XX_/OO_/___", 9, "It gives up the win: 3 is better (3)."),
        ("XO_/_X_/__O", 3, "It gives up the win: 4 or 7 is better (4, 6, 7)."),
    ],
    Kind.GIVES_UP_DRAW: [
        ("X__/___/___", 2, "It gives up the draw: X wins after 2, 4, 7, 5, 9, 6; 5 is better."),
        ("X__/_O_/__X", 3, "It gives up the draw: X wins after 3, 7, 4, 8; 2, 4, 6 or 8 is better."),
        ("XOX/OOX/_X_", 7, "It gives up the draw: X wins after 7, 9; 9 is better."),
    ],
    Kind.ALLOWS_WIN: [("XX_/OO_/___", 9, "It lets O complete 4-5-6.")],
    Kind.ALLOWS_FORK: [("X__/_O_/__X", 3, "It lets X make a fork on 7: 7-8-9 and 1-4-7 (3, 7, 4, 8).")],
    Kind.ALLOWS_FORCED_FORK: [
        ("___/_X_/___", 2, "It lets X force a fork with 1, 3, 4, 6, 7 or 9 (2, 1, 9, 4, 6, 7)."),
        ("X__/___/___", 2, "It lets X force a fork with 4, 5 or 7 (2, 4, 7, 5, 9, 6)."),
    ],
    Kind.WINS_LATER: [
        ("XOO/X__/___", 6, "It wins later than it could (6, 5, 7): 7 is better."),
        ("XOX/OXO/___", 8, "It wins later than it could (8, 7, 9): 7 or 9 is better."),
    ],
    Kind.LOSES_SOONER: [("XO_/X__/___", 3, "It loses sooner than it must: 7 is better (7, 5, 9, 6).")],
    Kind.BLOCKS: [("XO_/X__/___", 7, "It stops X on 1-4-7.")],
    Kind.MAKES_FORK: [("XO_/_X_/__O", 4, "It makes a fork: 4-5-6 and 1-4-7 (4, 6, 7).")],
    Kind.FORCES_FORK: [
        ("XO_/___/___", 5, "It forces a fork (5, 9, 4, 6, 7)."),
        ("_X_/___/O__", 1, "It forces a fork (1, 3, 5, 8, 9)."),
    ],
    Kind.BLOCKS_FORK: [("XOX/___/___", 5, "It keeps X from making a fork on 5, 7 or 9.")],
    Kind.STOPS_FORCED_FORK: [
        ("___/_X_/___", 1, "It stops X from forcing a fork, unlike 2, 4, 6 or 8 (2, 1, 9, 4, 6, 7).")
    ],
    Kind.ONLY_WIN: [("_X_/___/O__", 1, "It is the only move that wins.")],
    Kind.ONLY_MOVE: [("X__/___/___", 5, "It is the only move that does not lose.")],
    Kind.THREATENS: [("XO_/___/___", 5, "It threatens 1-5-9.")],
    Kind.CENTRE: [("___/___/___", 5, "It takes the centre, on 4 open lines.")],
    Kind.CORNER: [
        ("___/___/___", 9, "It takes a corner, on 3 open lines."),
        ("X__/_O_/__X", 3, "It takes a corner, on 1 open line."),
        ("XOX/XOO/OX_", 9, "It takes a corner, on no open lines."),
    ],
    Kind.EDGE: [
        ("___/___/___", 2, "It takes an edge, on 2 open lines."),
        ("X__/___/___", 2, "It takes an edge, on 1 open line."),
    ],
}


def test_there_is_an_example_of_every_kind() -> None:
    assert list(EXAMPLES) == list(Kind)


@pytest.mark.parametrize(
    ("kind", "written", "digit", "sentence"),
    [(kind, *example) for kind, examples in EXAMPLES.items() for example in examples],
)
def test_a_reason_reads_like_this(kind: Kind, written: str, digit: int, sentence: str) -> None:
    for first in Mark:
        exchange = str.maketrans("XO", "XO" if first is X else "OX")
        advice = judge_move(parse_board(written.translate(exchange), first), digit - 1)
        said = [say_reason(reason, advice.mark) for reason in advice.reasons if reason.kind is kind]
        assert said == [sentence.translate(exchange)]


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (Prospect(Result.WIN, 1), "win in 1"),
        (Prospect(Result.WIN, 5), "win in 5"),
        (Prospect(Result.LOSS, 2), "loss in 2"),
        (Prospect(Result.LOSS, 0), "loss in 0"),
        (Prospect(Result.DRAW, 9), "draw"),
        (Prospect(Result.DRAW, 0), "draw"),
    ],
)
def test_a_prospect_is_one_to_three_words(found: Prospect, said: str) -> None:
    """How it ends, and how soon; a draw comes when the board is full."""
    assert say_prospect(found) == said


def test_every_prospect_has_words() -> None:
    positions = {say_prospect(prospect(board)) for board in reachable()}
    moves = {say_prospect(one.prospect) for one in all_advice()}

    assert moves == {"draw", *(f"win in {n}" for n in (1, 3, 5)), *(f"loss in {n}" for n in (2, 4, 6))}
    assert positions == {
        "draw",
        *(f"win in {n}" for n in (1, 3, 5)),
        *(f"loss in {n}" for n in (0, 2, 4)),
    }


def test_advice_is_the_cell_the_prospect_and_every_reason_in_one_line() -> None:
    for one in all_advice():
        said = " ".join(say_reason(reason, one.mark) for reason in one.reasons)
        assert say_advice(one) == f"{counted((one.cell,))[0]}: {say_prospect(one.prospect)}. {said}"


def test_a_longer_win_or_loss_is_described_with_its_moves() -> None:
    """Shorter ones are shown by the line that is completed."""
    for one in all_advice():
        if one.prospect.result is not Result.DRAW and one.prospect.distance > 2:
            shown = re.findall(r"[(\s]((?:\d, )+\d)[);]", say_advice(one))
            assert any(
                len(moves) == one.prospect.distance and moves[0] == counted((one.cell,))[0]
                for moves in (line.split(", ") for line in shown)
            ), say_advice(one)


def test_advice_reads_like_this() -> None:
    fork = judge_move(parse_board("XOX/___/_O_"), 6)
    block = judge_move(parse_board("XO_/X__/___"), 6)
    start = judge_move(Board(first=O), 0)

    assert say_advice(fork) == (
        "7: loss in 2. It gives up the win: 5 is better (5, 7, 9). It lets O complete 2-5-8. "
        "It takes a corner, on 2 open lines."
    )
    assert say_advice(block) == (
        "7: loss in 4. It lets X make a fork on 5: 4-5-6 and 1-5-9 (7, 5, 6, 9). It stops X on 1-4-7. "
        "It takes a corner, on 2 open lines."
    )
    assert say_advice(start) == "1: draw. It takes a corner, on 3 open lines."
