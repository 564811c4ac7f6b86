"""The machine of matchboxes and beads: how it plays, and what a game changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from noughts import SYMMETRIES, Board, Mark, O, X, errors, parse_board, parse_moves
from noughts.analysis.solver import Result
from noughts.bots.ladder import random
from noughts.bots.menace.boxes import boxes, find_box
from noughts.bots.menace.machine import MAX_BEADS, BeadRules, Menace, menace_policy
from noughts.bots.odds import odds
from noughts.bots.policy import weigh
from noughts.bots.registry import find_policy
from support.length import short_or_long
from support.played import DRAW, O_WINS, X_WINS
from support.reference.symmetry import Move, box_of, move_of
from support.reference.tactics import free, in_play, signs_of

MICHIE = BeadRules()
ONE_EACH = (1, 1, 1, 1)
SWAPPED = str.maketrans("XO", "OX")
IN_PLAY = in_play(*Mark)

some_rules = st.builds(
    BeadRules,
    beads=st.tuples(*[st.integers(1, 5)] * 4),
    win=st.integers(-3, 5),
    draw=st.integers(-3, 3),
    loss=st.integers(-6, 2),
    blame=st.sampled_from(["all", "last"]),
    empty=st.sampled_from(["resign", "refill", "keep"]),
)
some_games = st.lists(
    st.tuples(st.integers(0), st.sampled_from(Mark), st.sampled_from(Mark)), max_size=12
)
"""A seed, the mark of the machine, and the mark that starts."""


class Bookkeeper:
    """A second implementation: counts the beads of a machine by hand, on boards of nine signs."""

    def __init__(self, rules: BeadRules) -> None:
        self.rules = rules
        self.boxes: dict[str, dict[Move, int]] = {}

    def box(self, signs: str) -> dict[Move, int]:
        """Return the box of a position, in which X is the mark that started."""
        return self.boxes.setdefault(box_of(signs), self.new_box(signs))

    def new_box(self, signs: str) -> dict[Move, int]:
        """Fill a box as at the start."""
        count = self.rules.beads[(9 - len(free(signs))) // 2]
        return {move_of(signs, cell): count for cell in sorted(free(signs))}

    def note(self, moves: list[Move], result: Result) -> None:
        """Change the beads of the moves that the machine made."""
        rules = self.rules
        change = rules.win
        if result is Result.DRAW:
            change = rules.draw
        if result is Result.LOSS:
            change = rules.loss
            if rules.blame == "last":
                moves = moves[len(moves) - 1 :] if moves else []
        for signs, cell in moves:
            box, move = self.box(signs), move_of(signs, cell)
            had = box[move]
            box[move] = had + change
            box[move] = max(box[move], 0)
            if change < 0 and sum(box.values()) == 0:
                if rules.empty == "refill":
                    box.update(self.new_box(signs))
                if rules.empty == "keep" and had > 0:
                    box[move] = 1


def play(seed: int, mark: Mark, first: Mark) -> tuple[list[int], list[Move], Result]:
    """Play a random game, perhaps resigned; return its moves, those of one mark, and the result."""
    rng = Random(seed)
    board, moves, own = Board(first=first), list[int](), list["Move"]()
    while not board.is_over and rng.random() < 0.97:
        cell = rng.choice(board.free_cells)
        if board.turn is mark and len(board.free_cells) > 1:
            signs = signs_of(board)
            own.append((signs if first is X else signs.translate(SWAPPED), cell))
        moves.append(cell)
        board = board.place(cell)
    if board.is_draw:
        return moves, own, Result.DRAW
    winner = board.winner or board.turn.other
    return moves, own, Result.WIN if winner is mark else Result.LOSS


def changes(machine: Menace) -> dict[tuple[str, str], int]:
    """Return the changes of beads since the start, by label and cell, counted from 1."""
    fresh = Menace(machine.rules)
    return {
        (str(box.board), str(cell + 1)): now - then
        for box, beads, before in zip(boxes(), machine.boxes, fresh.boxes, strict=True)
        for cell, now, then in zip(box.cells, beads, before, strict=True)
        if now != then
    }


def learn(machine: Menace, moves: Iterable[int], mark: Mark, first: Mark = X) -> None:
    """Learn a game; an unfinished one is resigned by the mark to move."""
    cells, board = list(moves), Board(first=first)
    for cell in cells:
        board = board.place(cell)
    machine.learn(cells, mark, first, None if board.is_over else board.turn)


def changed(moves: str, mark: Mark, rules: BeadRules = MICHIE, first: Mark = X) -> list[tuple[int, int]]:
    """Learn one game; return the stage of each changed box, and its changes, in order."""
    machine = Menace(rules)
    learn(machine, parse_moves(moves, first), mark, first)
    stages = {str(box.board): box.stage for box in boxes()}
    return sorted((stages[label], change) for (label, _), change in changes(machine).items())


def drain(machine: Menace, board: Board | None = None) -> None:
    """Empty a box with lost games."""
    place = find_box(board or Board())
    for kind in range(len(place.cells)):
        machine.settle([(place.box, kind)], Result.LOSS)


def drawn_in(moves: tuple[int, ...], mark: Mark, first: Mark = X) -> list[tuple[int, int]]:
    """Return the beads drawn in a game: the box and the kind of each."""
    board, drawn = Board(first=first), []
    for cell in moves:
        if board.turn is mark and len(board.free_cells) > 1:
            drawn.append((find_box(board).box, find_box(board).kinds[cell]))
        board = board.place(cell)
    return drawn


@pytest.mark.parametrize("beads", [(4, 3, 2, 1), (8, 4, 2, 1)])
def test_a_new_machine_is_filled_stage_by_stage(beads: tuple[int, ...]) -> None:
    machine = Menace(BeadRules(beads))

    for box, inside in zip(boxes(), machine.boxes, strict=True):
        assert inside == [beads[box.stage]] * len(box.cells)
    assert machine.results == {Result.WIN: 0, Result.DRAW: 0, Result.LOSS: 0}
    assert machine.games == 0
    assert machine(Board()) == dict.fromkeys((0, 1, 4), Fraction(1, 3))
    assert Menace().rules == BeadRules((4, 3, 2, 1), 3, 1, -1, "all", "resign")


def test_each_machine_has_boxes_of_its_own() -> None:
    one, other = Menace(), Menace()
    one.learn(parse_moves(X_WINS), X)

    assert changes(other) == {}
    assert len({id(beads) for beads in one.boxes}) == len(boxes())


def test_a_win_adds_three_beads_for_each_move() -> None:
    machine = Menace()
    machine.learn(parse_moves(X_WINS), X)

    assert machine.beads(Board()) == {0: 7, 1: 4, 4: 4}
    assert machine.beads(Board(0o001, 0o020)) == {1: 6, 2: 3, 5: 3, 8: 3}
    assert sorted(changes(machine).values()) == [3, 3, 3]
    assert machine.results == {Result.WIN: 1, Result.DRAW: 0, Result.LOSS: 0}


@pytest.mark.parametrize(
    ("moves", "mark", "expected"),
    [
        (X_WINS, X, [(0, 3), (1, 3), (2, 3)]),
        (X_WINS, O, [(0, -1), (1, -1)]),
        (O_WINS, X, [(0, -1), (1, -1), (2, -1)]),
        (O_WINS, O, [(0, 3), (1, 3), (2, 3)]),
        (DRAW, X, [(0, 1), (1, 1), (2, 1), (3, 1)]),
        (DRAW, O, [(0, 1), (1, 1), (2, 1), (3, 1)]),
        *(("51", X, [(0, -1)]), ("51", O, [(0, 3)])),  # X resigned
        *(("519", X, [(0, 3), (1, 3)]), ("519", O, [(0, -1)])),  # O resigned
    ],
)
def test_michies_rules_to_the_letter(moves: str, mark: Mark, expected: list[tuple[int, int]]) -> None:
    """Three more, one more, or one less, in either seat; the ninth token was not a choice."""
    assert changed(moves, mark) == expected


@pytest.mark.parametrize(
    ("rules", "moves", "mark", "expected"),
    [
        (BeadRules(win=5), X_WINS, X, [(0, 5), (1, 5), (2, 5)]),
        (BeadRules(win=0), X_WINS, X, []),
        (BeadRules(draw=2), DRAW, O, [(0, 2), (1, 2), (2, 2), (3, 2)]),
        (BeadRules(draw=0), DRAW, X, []),
        (BeadRules(draw=-1, beads=(9, 9, 9, 9)), DRAW, X, [(0, -1), (1, -1), (2, -1), (3, -1)]),
        (BeadRules(loss=-2), X_WINS, O, [(0, -2), (1, -2)]),
        (BeadRules(loss=-100), O_WINS, X, [(0, -4), (1, -3), (2, -2)]),
        (BeadRules(loss=0), O_WINS, X, []),
        (BeadRules(loss=1), O_WINS, X, [(0, 1), (1, 1), (2, 1)]),
        (BeadRules(blame="last"), O_WINS, X, [(2, -1)]),
        (BeadRules(blame="last"), X_WINS, O, [(1, -1)]),
        (BeadRules(blame="last"), X_WINS, X, [(0, 3), (1, 3), (2, 3)]),
        (BeadRules(blame="last"), DRAW, X, [(0, 1), (1, 1), (2, 1), (3, 1)]),
        (BeadRules(blame="last", loss=-100), O_WINS, X, [(2, -2)]),
    ],
)
def test_other_rules_to_the_letter(
    rules: BeadRules, moves: str, mark: Mark, expected: list[tuple[int, int]]
) -> None:
    assert changed(moves, mark, rules) == expected


@pytest.mark.thorough
@given(some_rules, some_games)
@settings(max_examples=short_or_long(60, 2_000))
def test_the_beads_match_the_second_implementation(
    rules: BeadRules, games: list[tuple[int, Mark, Mark]]
) -> None:
    machine, books = Menace(rules), Bookkeeper(rules)
    for seed, mark, first in games * 3:
        moves, own, result = play(seed, mark, first)
        learn(machine, moves, mark, first)
        books.note(own, result)
    assert machine.games == len(games) * 3
    assert all(0 <= count <= MAX_BEADS for beads in machine.boxes for count in beads)
    assert rules.empty == "resign" or all(any(beads) for beads in machine.boxes)
    for box, beads in zip(boxes(), machine.boxes, strict=True):
        signs = signs_of(box.board)
        kept = books.boxes.get(box_of(signs)) or books.new_box(signs)
        assert {move_of(signs, cell): now for cell, now in zip(box.cells, beads, strict=True)} == kept


@pytest.mark.parametrize("mark", Mark)
@pytest.mark.parametrize("moves", [X_WINS, O_WINS, DRAW, "5", "51", "519", ""])
def test_a_game_is_learned_alike_by_its_moves_and_by_its_beads(moves: str, mark: Mark) -> None:
    learned, settled = Menace(), Menace()
    cells = parse_moves(moves)
    learn(learned, cells, mark)
    ends = {X_WINS: X, O_WINS: O, DRAW: None, "5": X, "51": O, "519": X, "": O}
    result = Result.DRAW if ends[moves] is None else Result.WIN if ends[moves] is mark else Result.LOSS
    settled.settle(drawn_in(cells, mark), result)

    assert learned.boxes == settled.boxes
    assert learned.results == settled.results


@pytest.mark.parametrize("moves", [X_WINS, O_WINS, DRAW, "51"])
@pytest.mark.parametrize("mark", Mark)
def test_swapping_the_marks_makes_no_difference(moves: str, mark: Mark) -> None:
    one, other = Menace(), Menace()
    learn(one, parse_moves(moves), mark, X)
    learn(other, parse_moves(moves, O), mark.other, O)

    assert changes(one) != {}
    assert one.boxes == other.boxes
    assert one.results == other.results


@pytest.mark.parametrize("turn", SYMMETRIES)
def test_an_image_of_a_game_teaches_the_same(turn: tuple[int, ...]) -> None:
    one, other = Menace(), Menace()
    one.learn(parse_moves(O_WINS), X)
    other.learn([turn[cell] for cell in parse_moves(O_WINS)], X)

    assert one.boxes == other.boxes


def test_a_game_given_up_at_once_changes_no_beads() -> None:
    machine = Menace()
    machine.learn((), X, resigned=X)
    machine.learn((), O, resigned=X)

    assert changes(machine) == {}
    assert machine.results == {Result.WIN: 1, Result.DRAW: 0, Result.LOSS: 1}
    assert machine.games == 2


def test_a_machine_with_an_empty_box_resigns_there() -> None:
    machine = Menace(BeadRules(ONE_EACH))
    answer = Board().place(0)
    drain(machine)
    drain(machine, answer)

    assert machine(Board()) == {}
    assert machine(Board(first=O)) == {}
    assert all(machine(answer.image(turn)) == {} for turn in SYMMETRIES)
    assert weigh(machine, Board()).total == 0
    assert odds(machine, random).o == 1
    assert odds(random, machine).x > odds(random, Menace(BeadRules(ONE_EACH))).x


WORDS = ("resign", "refill", "keep")
FEW, NONE = (2, 1, 1, 1), [0, 0, 0]
ONE_BOX: list[tuple[BeadRules, list[int], tuple[int, ...], Result, list[int]]] = [
    # An empty box is filled again when the last bead is taken, and not a game earlier.
    (BeadRules(FEW, empty="refill"), [2, 2, 2], (0, 1, 2), Result.LOSS, [1, 1, 1]),
    (BeadRules(FEW, empty="refill"), [1, 1, 1], (0, 1), Result.LOSS, [0, 0, 1]),
    (BeadRules(FEW, empty="refill"), [0, 0, 1], (2,), Result.LOSS, [2, 2, 2]),
    # The last bead is kept, however many are to be taken out.
    *(
        (BeadRules(FEW, loss=loss, empty="keep"), [2, 2, 2], (0, 1, 2) * 5, Result.LOSS, [0, 0, 1])
        for loss in (-1, -2, -1000)
    ),
    # A win can take beads, too.
    *(
        (BeadRules(ONE_EACH, win=-1, empty=empty), [1, 1, 1], (0, 1, 2), Result.WIN, left)
        for empty, left in zip(WORDS, (NONE, [1, 1, 1], [0, 0, 1]), strict=True)
    ),
    # A game that takes nothing out leaves an empty box empty, and a win puts beads into it.
    (BeadRules(draw=0, empty="refill"), NONE, (1,), Result.DRAW, NONE),
    (BeadRules(draw=0, empty="refill"), NONE, (1,), Result.WIN, [0, 3, 0]),
    # A bead that is not there cannot be taken out.
    *((BeadRules(empty=empty), [0, 5, 5], (0,), Result.LOSS, [0, 5, 5]) for empty in WORDS),
    # A box that was empty before has no last bead to keep.
    *(
        (BeadRules(empty=empty), NONE, (0,), Result.LOSS, left)
        for empty, left in zip(WORDS, (NONE, [4, 4, 4], NONE), strict=True)
    ),
    # A kind of bead stays at the limit, and one below it reaches it.
    (
        BeadRules((MAX_BEADS, 1, 1, 1), win=MAX_BEADS),
        [MAX_BEADS, MAX_BEADS - 1, MAX_BEADS],
        (0, 1),
        Result.WIN,
        [MAX_BEADS] * 3,
    ),
]


@pytest.mark.parametrize(("rules", "before", "kinds", "result", "left"), ONE_BOX)
def test_what_games_change_in_one_box(
    rules: BeadRules, before: list[int], kinds: tuple[int, ...], result: Result, left: list[int]
) -> None:
    """One game for each kind of bead that is drawn, or one game with them all."""
    machine, in_one_game, box = Menace(rules), Menace(rules), find_box(Board()).box
    machine.boxes[box], in_one_game.boxes[box] = [*before], [*before]
    for kind in kinds:
        machine.settle([(box, kind)], result)
    in_one_game.settle([(box, kind) for kind in kinds], result)

    assert machine.boxes[box] == in_one_game.boxes[box] == left
    shares = zip((0, 1, 4), left, strict=True)  # a corner, an edge, the centre
    assert machine(Board()) == {cell: Fraction(count, sum(left)) for cell, count in shares if count}


def test_a_box_without_a_game_is_left_alone() -> None:
    for blame in ("all", "last"):
        machine = Menace(BeadRules(blame=blame))
        machine.settle([], Result.LOSS)
        assert changes(machine) == {}
        assert machine.results[Result.LOSS] == 1


def test_chances_are_the_shares_of_the_beads() -> None:
    machine = Menace()
    for seed in range(300):
        learn(machine, play(seed, X, X)[0], X)
        learn(machine, play(seed, O, X)[0], O)
    emptied = 0
    for board in IN_PLAY:
        beads, chances = machine.beads(board), machine(board)
        total = sum(beads.values())
        assert chances == {cell: Fraction(count, total) for cell, count in beads.items() if count}
        assert all(type(chance) is Fraction for chance in chances.values())
        assert sum(chances.values()) == (1 if total else 0)
        assert set(weigh(machine, board).cells) == set(chances)
        emptied += not total
    assert emptied > 0


def test_one_cell_of_each_kind_has_the_chance_of_its_kind() -> None:
    machine = Menace()
    for board in IN_PLAY:
        cells = machine.beads(board)
        names = [move_of(signs_of(board), cell) for cell in cells]
        assert len(set(names)) == len(names)
        assert set(names) == {move_of(signs_of(board), cell) for cell in board.free_cells}


def test_a_last_free_cell_is_certain() -> None:
    """It has no box: there is no choice."""
    machine = Menace()
    machine.boxes = [[0] * len(beads) for beads in machine.boxes]
    last = [board for board in IN_PLAY if len(board.free_cells) == 1]

    assert len(last) > 50
    for board in last:
        assert machine(board) == {board.free_cells[0]: 1}
        assert machine.beads(board) == {board.free_cells[0]: 1}


def test_querying_changes_nothing() -> None:
    machine = Menace()
    machine.beads(Board())[0] = 99

    assert machine.beads(Board()) == {0: 4, 1: 4, 4: 4}
    assert changes(machine) == {}


def test_the_results_are_counted_by_their_end() -> None:
    machine = Menace()
    for moves, times in ((X_WINS, 3), (DRAW, 2), (O_WINS, 1)):
        for _ in range(times):
            machine.learn(parse_moves(moves), X)

    assert Counter(machine.results) == {Result.WIN: 3, Result.DRAW: 2, Result.LOSS: 1}
    assert machine.games == 6


BAD_BEADS = [(), (4, 3, 2), (4, 3, 2, 1, 1), (4, 3, 2, 0), (-1, 3, 2, 1), (MAX_BEADS + 1, 1, 1, 1)]
NOT_WHOLE = [(1.5, 1, 1, 1), (True, 1, 1, 1), "4321", 4, None]
BAD_RULES: list[tuple[str, object, str]] = [
    *(("beads", beads, "four numbers of at least 1, such as 4-3-2-1$") for beads in BAD_BEADS),
    *(("beads", beads, "whole numbers") for beads in NOT_WHOLE),
    *(("win", "3", "whole numbers"), ("draw", True, "whole numbers"), ("loss", None, "whole numbers")),
    *(
        (name, number, "at most 1,000,000,000 beads")
        for name in ("win", "draw", "loss")
        for number in (MAX_BEADS + 1, -MAX_BEADS - 1)
    ),
    ("blame", "first", "^blame is all or last, not 'first'$"),
    ("empty", "first", "^empty is resign, refill or keep, not 'first'$"),
]


@pytest.mark.parametrize(("name", "value", "sentence"), BAD_RULES, ids=str)
def test_bad_rules_are_refused(name: str, value: object, sentence: str) -> None:
    with pytest.raises(errors.UnknownPolicy, match=sentence):
        BeadRules(**{name: value})


@pytest.mark.parametrize("name", ["win", "draw", "loss"])
@pytest.mark.parametrize("number", [MAX_BEADS, -MAX_BEADS])
def test_a_change_may_be_as_large_as_a_box(name: str, number: int) -> None:
    assert getattr(BeadRules(**{name: number}), name) == number


def test_rules_say_what_a_result_changes() -> None:
    rules = BeadRules(win=7, draw=5, loss=-3)

    assert [rules.change(result) for result in Result] == [7, 5, -3]


@pytest.mark.parametrize(("moves", "mark"), [((0, 4, 0), X), ((0, 3, 1, 4, 2, 5), O), ((9,), X)])
def test_an_illegal_game_is_refused(moves: tuple[int, ...], mark: Mark) -> None:
    with pytest.raises(errors.IllegalMove):
        Menace().learn(moves, mark)


@pytest.mark.parametrize("mark", Mark)
def test_an_unfinished_game_teaches_nothing(mark: Mark) -> None:
    machine = Menace()
    with pytest.raises(errors.NotOver) as refusal:
        machine.learn((0, 4), mark)

    assert (
        str(refusal.value)
        == "the game is not over in 'X__/_O_/___': say who resigned, or finish it first"
    )
    assert changes(machine) == {}
    assert machine.games == 0
    machine.learn((0, 4), mark, resigned=O)
    assert machine.results[Result.WIN if mark is X else Result.LOSS] == 1


@pytest.mark.parametrize(
    ("moves", "resigned", "kind"),
    [
        ((0, True), O, errors.NoSuchCell),
        ((0, 4.0), O, errors.NoSuchCell),
        (5, O, errors.UnreadableMoves),
        ((0, 4), "o", errors.InvalidArgument),
    ],
)
def test_a_machine_learns_from_cells_and_marks(
    moves: tuple[int, ...], resigned: Mark, kind: type[errors.NoughtsError]
) -> None:
    machine = Menace()
    with pytest.raises(kind):
        machine.learn(moves, X, resigned=resigned)

    assert changes(machine) == {}
    assert machine.games == 0


def test_beads_in_a_list_are_as_good_as_in_a_tuple() -> None:
    class Three:
        def __index__(self) -> int:
            return 3

    rules = BeadRules(beads=[4, Three(), 2, 1], win=Three())

    assert rules == MICHIE
    assert hash(rules) == hash(MICHIE)
    assert [type(number) for number in (*rules.beads, rules.win)] == [int] * 5
    assert rules.replace(beads=[8, 4, 2, 1]).beads == (8, 4, 2, 1)


def test_a_machine_has_no_move_when_the_game_is_over() -> None:
    assert Menace()(parse_board("XXX/OO_/___")) == {}


# By name


def test_a_machine_is_found_by_its_name() -> None:
    found, other = menace_policy(), menace_policy()
    found.learn(parse_moves(X_WINS), X)

    assert (other.rules, other.boxes, other.results) == (MICHIE, Menace().boxes, Menace().results)
    assert find_policy("menace")(Board()) == Menace()(Board())
    assert menace_policy(beads="8-4-2-1").rules == BeadRules(beads=(8, 4, 2, 1))
    assert menace_policy(win="0", draw="-0", loss="-100").rules == BeadRules(win=0, draw=0, loss=-100)
    assert menace_policy(blame="last").rules == BeadRules(blame="last")
    everything = find_policy("menace:beads=1-1-1-1,win=5,draw=2,loss=-3,blame=last,empty=keep")
    assert isinstance(everything, Menace)
    assert everything.rules == BeadRules((1, 1, 1, 1), 5, 2, -3, "last", "keep")


BAD_PARAMETERS = {
    "the rules of a menace are whole numbers, such as beads=4-3-2-1, win=3, draw=1, loss=-1": {
        "beads": ["-4-3-2-1", "4--3-2-1", "4.3.2.1", "a-b-c-d", "-", "1-" * 100],
        "win": ["", "three", "3.0", "1e3", " 3", "+3", "1_000", "0x10", "\N{ARABIC-INDIC DIGIT THREE}"],
        "draw": ["1/2", "nan"],
        "loss": ["--1", "1-", "9" * 5000],
    },
    "the beads at first are four numbers of at least 1, such as 4-3-2-1": {
        "beads": ["", "4", "4-3-2", "4-3-2-1-0", "4-3-2-0", "9999999999-1-1-1"]
    },
    "a game changes at most 1,000,000,000 beads": {"loss": ["-" + "9" * 39], "win": ["1000000001"]},
    "blame is all or last, not ''": {"blame": [""]},
    "blame is all or last, not 'Last'": {"blame": ["Last"]},
    "empty is resign, refill or keep, not ''": {"empty": [""]},
    "empty is resign, refill or keep, not 'burn'": {"empty": ["burn"]},
    "menace has no 'luck': it has beads, win, draw, loss, blame and empty": {"luck": ["1"]},
}


@pytest.mark.parametrize("sentence", BAD_PARAMETERS)
def test_a_bad_parameter_is_refused(sentence: str) -> None:
    for name, texts in BAD_PARAMETERS[sentence].items():
        for text in texts:
            with pytest.raises(errors.UnknownPolicy) as refusal:
                menace_policy(**{name: text})
            assert str(refusal.value) == sentence
