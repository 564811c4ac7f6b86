"""A policy in a file: written and read exactly, and nothing else is taken for one."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction
from math import gcd
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings, strategies as st

from noughts import (
    Board,
    Mark,
    Menace,
    O,
    Training,
    X,
    certify,
    errors,
    find_policy,
    load_policy,
    odds,
    parse_board,
    reachable,
    save_policy,
)
from noughts.bots.ladder import evenly, perfect, random
from noughts.bots.policy import CachedPolicy, weigh
from noughts.bots.policy_file import MAX_WEIGHT
from noughts.bots.registry import BUILT_IN
from noughts.files import MAX_FILE_BYTES
from support.strategies import json_values

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from noughts import Cell, Policy

EMPTY, CORNER, LAST = "___/___/___", "X__/___/___", "XOX/XOO/OX_"


def last_free(board: Board) -> Mapping[Cell, Fraction]:
    """Take the last free cell."""
    return {board.free_cells[-1]: Fraction(1)}


def faint_hearted(board: Board) -> Mapping[Cell, Fraction]:
    """Resign as soon as the centre is taken, and take it otherwise."""
    return evenly(cell for cell in board.free_cells if cell == 4)


def learned() -> Menace:
    """Return a machine that has learned a little, with boxes that have run empty."""
    machine = Menace()
    Training(machine, perfect, Random(3)).play(200)
    return machine


def chances(policy: Policy, board: Board) -> dict[Cell, tuple[int, int]]:
    """Return the chances of the cells that have some, each as two numbers in lowest terms."""
    found = weigh(policy, board)
    common = gcd(*found.shares)
    return {
        cell: (share // common, found.total // common)
        for cell, share in zip(found.cells, found.shares, strict=True)
    }


def check_same(one: Policy, other: Policy) -> None:
    """See that two policies give the same chances in every position, whoever starts."""
    for board in (board for first in Mark for board in reachable(first) if not board.is_over):
        assert chances(one, board) == chances(other, board)


def check_refused(path: Path, because: str = "") -> str:
    """See that a file is no policy, and return the sentence."""
    with pytest.raises(errors.NotAPolicy) as refusal:
        load_policy(path)
    sentence = str(refusal.value)
    assert sentence.startswith(f"{path} holds no policy: ")
    assert because in sentence
    assert sentence.isprintable()
    return sentence


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return what is written of the policy that takes the last free cell."""
    path = tmp_path_factory.mktemp("written") / "policy.json"
    save_policy(last_free, path)
    return path.read_text()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a path for files that are written one after the other."""
    return tmp_path_factory.mktemp("policies") / "policy.json"


# Written and read


@pytest.mark.parametrize("name", [*BUILT_IN, "club:block=1/3,win=1/1000"])
def test_what_was_written_is_read_exactly(path: Path, name: str) -> None:
    """The same chances in every position."""
    policy = CachedPolicy(find_policy(name))
    save_policy(policy, path)

    read = load_policy(path)

    for board in reachable():
        if not board.is_over:
            assert chances(read, board) == chances(policy, board)


def test_a_machine_that_has_learned_is_kept_as_it_plays_now(tmp_path: Path) -> None:
    """It resigns where its boxes are empty, and learns no more."""
    machine = learned()
    save_policy(machine, tmp_path / "policy.json")

    check_same(machine, load_policy(tmp_path / "policy.json"))


def test_what_resigns_is_written_so(tmp_path: Path) -> None:
    """With no cell at all."""
    path = tmp_path / "policy.json"
    save_policy(faint_hearted, path)

    assert json.loads(path.read_text())["weights"][EMPTY] == {"5": 1}
    assert json.loads(path.read_text())["weights"]["___/_X_/___"] == {}
    check_same(faint_hearted, load_policy(path))


def test_its_odds_and_its_certificate_are_those_of_the_policy(tmp_path: Path) -> None:
    """Exactly."""
    careful = CachedPolicy(find_policy("newell-simon"))
    save_policy(careful, tmp_path / "policy.json")
    read = load_policy(tmp_path / "policy.json")

    assert odds(read, random) == odds(careful, random)
    assert odds(random, read, Board(first=O)) == odds(random, careful, Board(first=O))
    assert certify(read, O) == certify(careful, O)


def test_in_a_game_that_o_starts_the_marks_are_swapped(tmp_path: Path, text: str) -> None:
    """Even if the policy that was written sees a difference: who is to move counts."""
    path = tmp_path / "policy.json"
    save_policy(lambda board: last_free(board) if board.first is X else random(board), path)

    assert path.read_text() == text
    assert load_policy(path)(Board(first=O)) == {8: 1}
    check_same(last_free, load_policy(path))


def test_of_a_game_that_is_over_it_says_nothing(path: Path, text: str) -> None:
    """There is nothing to do."""
    path.write_text(text)

    assert load_policy(path)(parse_board("XXX/OO_/___")) == {}


def test_a_policy_that_was_read_can_be_sent_to_another_process(path: Path, text: str) -> None:
    """As simulations do."""
    path.write_text(text)

    check_same(last_free, pickle.loads(pickle.dumps(load_policy(path))))  # noqa: S301 - our own


# The file


def test_the_file_can_be_read_by_people(text: str) -> None:
    """A line for each position, those with fewer tokens first, cells from 1 to 9."""
    lines = text.splitlines()

    assert lines[:3] == ['{"policy":1,"weights":{', f'"{EMPTY}":{{"9":1}},', f'"{CORNER}":{{"9":1}},']
    assert lines[-1] == "}}"
    assert len(json.loads(text)["weights"]) == len(lines) - 2 == 4520
    assert text.isascii()
    assert text.endswith("}\n")


def test_the_same_policy_is_the_same_file(tmp_path: Path) -> None:
    """To the byte, in whatever order and size it tells its chances."""
    one, other = tmp_path / "one", tmp_path / "other"
    save_policy(random, one)
    save_policy(lambda board: dict(reversed([*random(board).items()])), other)
    assert one.read_bytes() == other.read_bytes()

    save_policy(load_policy(one), other)
    assert one.read_bytes() == other.read_bytes()


def test_the_finest_chances_fit_into_a_file(tmp_path: Path) -> None:
    """With the longest weights in every cell."""
    path, rng = tmp_path / "policy.json", Random(1)

    def fine(board: Board) -> Mapping[Cell, Fraction]:
        shares = {cell: MAX_WEIGHT - rng.randrange(2) for cell in board.free_cells}
        return {cell: Fraction(share, sum(shares.values())) for cell, share in shares.items()}

    save_policy(fine, path)

    assert path.stat().st_size < MAX_FILE_BYTES / 2
    assert sum(load_policy(path)(Board()).values()) == 1


@pytest.mark.parametrize(
    ("weights", "chances"),
    [
        ({"1": 2, "5": 2}, {0: Fraction(1, 2), 4: Fraction(1, 2)}),
        ({"5": 1, "1": 3}, {0: Fraction(3, 4), 4: Fraction(1, 4)}),
        ({"1": 0, "9": 7}, {8: 1}),
        ({"2": MAX_WEIGHT}, {1: 1}),
        ({}, {}),
    ],
)
def test_weights_are_shares_of_their_sum(
    path: Path, text: str, weights: dict[str, int], chances: dict[int, Fraction]
) -> None:
    """However large they are, and in whatever order; none has no chance."""
    written = {**json.loads(text), "weights": {**json.loads(text)["weights"], EMPTY: weights}}
    path.write_text(json.dumps(dict(reversed(written.items())), indent=2))

    assert load_policy(path)(Board()) == chances


def test_what_cannot_be_written_leaves_the_file_as_it_was(path: Path, text: str) -> None:
    """A policy that gives no chances, one that fails, and one whose chances are too fine."""
    path.write_text(text)
    fine = Fraction(1, MAX_WEIGHT + 2)
    for policy, because in (
        (lambda board: {board.free_cells[0]: Fraction(1, 2)}, r"chances add up to 1"),
        (lambda board: {board.free_cells[9]: Fraction(1)}, r"a policy fails in '___/___/___'"),
        (lambda _board: {0: fine, 1: 1 - fine}, r"the chances in '___/___/___' are too fine for a file"),
    ):
        with pytest.raises(errors.BadPolicy, match=because):
            save_policy(policy, path)

    assert path.read_text() == text
    assert [*path.parent.iterdir()] == [path]


def test_a_place_that_cannot_be_written_is_told(path: Path) -> None:
    """In a sentence."""
    with pytest.raises(errors.FileUnavailable, match=r"cannot be written: Is a directory$"):
        save_policy(random, path.parent)


def test_no_folder_is_made_for_a_policy(tmp_path: Path) -> None:
    """A slip in its name is told, and leaves nothing behind."""
    place = tmp_path / "modles" / "q.json"
    with pytest.raises(errors.FileUnavailable) as refusal:
        save_policy(random, place)

    assert str(refusal.value) == f"{place} cannot be written: there is no folder {place.parent}"
    assert not place.parent.exists()


# Files that hold no policy


@pytest.mark.parametrize("name", ["nonesuch", ".", "a" * 300, "a\0b"])
def test_a_file_that_cannot_be_read_is_told_so(path: Path, name: str) -> None:
    """With its name."""
    with pytest.raises(errors.NotAPolicy, match=r" cannot be read: "):
        load_policy(path.parent / name)


NO_POLICY = "it does not say that it is a policy of schema 1"
NO_WEIGHTS = 'it has no weights, such as {"___/___/___": {"1": 2, "5": 1}, …}'


@pytest.mark.parametrize(
    ("written", "because"),
    [
        (b"", "'' is not JSON"),
        (b"\x80", "it is no text"),
        (b"[" * 100_000, "is not JSON"),
        (b'{"policy":' * 50_000, "is not JSON"),
        (b" " * (MAX_FILE_BYTES + 1), "it is too long"),
        (b"null", NO_POLICY),
        (b"{}", NO_POLICY),
        (b'{"menace": 1}', NO_POLICY),
        (b'{"policy": 2, "weights": {}}', NO_POLICY),
        (b'{"policy": true, "weights": {}}', NO_POLICY),
        (b'{"policy": 1.0, "weights": {}}', NO_POLICY),
        (b'{"policy": 1, "weights": {}, "luck": 1}', "it has parts that no policy has"),
        (b'{"policy": 1, "weights": {}, "weights": {}}', "a field is given twice"),
        (b'{"policy": 1}', NO_WEIGHTS),
        (b'{"policy": 1, "weights": []}', NO_WEIGHTS),
        (
            b'{"policy": 1, "weights": {}}',
            "there are 4,520 positions, and {} is written where it resigns",
        ),
    ],
    ids=lambda value: repr(value[:32]) if isinstance(value, bytes) else "",
)
def test_what_is_no_policy_is_refused(path: Path, written: bytes, because: str) -> None:
    """With the reason."""
    path.write_bytes(written)

    assert check_refused(path).endswith(because)


@pytest.mark.parametrize(
    "position",
    [
        "XXX/OO_/___",  # over
        "XOX/XOO/OXX",  # full
        "XX_/___/___",  # no game leads there
        "O__/___/___",  # O starts
        "X.O/.X./...",  # written otherwise
        "X_O_X____",
        "",
        "\x1b[2J",
        "\ud800",
    ],
)
def test_a_position_that_is_not_asked_about_is_refused(path: Path, text: str, position: str) -> None:
    """There is one way to write each of the others, so that none is there twice."""
    path.write_text(text.replace(f'"{CORNER}"', json.dumps(position), 1))

    check_refused(path, "is no unfinished position of a game that X starts, written like 'X_O/_X_/___'")


def test_a_position_that_is_left_out_is_refused(path: Path, text: str) -> None:
    """Nothing is assumed of what a policy does there."""
    path.write_text(text.replace(f'"{CORNER}":{{"9":1}},\n', "", 1))

    check_refused(path, f"it does not say what to do in '{CORNER}'")


def test_a_position_that_is_there_twice_is_refused(path: Path, text: str) -> None:
    """Nobody could say which one was meant."""
    path.write_text(text.replace(f'"{CORNER}":', f'"{CORNER}":{{}},"{CORNER}":', 1))

    check_refused(path, "a field is given twice")


@pytest.mark.parametrize(
    ("weights", "because"),
    [
        ("null", "has None where weights belong"),
        ('"9"', "has '9' where weights belong, such as {\"5\": 1}"),
        ("9", "has 9 where weights belong"),
        ("[9]", "has [9] where weights belong"),
        ('{"1":1}', "has '1' where a free cell belongs, from 1 to 9"),
        ('{"10":1}', "has '10' where a free cell belongs"),
        ('{"0":1}', "has '0' where a free cell belongs"),
        ('{"c3":1}', "has 'c3' where a free cell belongs"),
        ('{"":1}', "has '' where a free cell belongs"),
        ('{"9":-1}', "has -1 where a number from 0 to 1,000,000,000,000,000 belongs"),
        ('{"9":1.0}', "has 1.0 where a number"),
        ('{"9":1e3}', "has 1000.0 where a number"),
        ('{"9":true}', "has True where a number"),
        ('{"9":null}', "has None where a number"),
        ('{"9":"1/2"}', "has '1/2' where a number"),
        ('{"9":1000000000000001}', "has 1000000000000001 where a number"),
        (f'{{"9":{"9" * 4000}}}', "has a number that long where a number"),
        (f'{{"9":{"9" * 5000}}}', "is not JSON"),
        ('{"9":NaN}', "NaN is not JSON"),
        ('{"9":-Infinity}', "Infinity is not JSON"),
        ('{"9":1,"9":1}', "a field is given twice"),
        ('{"9":0}', "has no weight above 0: {} is written where it resigns"),
    ],
    ids=lambda value: value[:16],
)
def test_weights_that_are_none_are_refused(path: Path, text: str, weights: str, because: str) -> None:
    """With the position, what stands there, and what is right."""
    path.write_text(text.replace(f'"{CORNER}":{{"9":1}}', f'"{CORNER}":{weights}', 1))

    sentence = check_refused(path, because)

    assert "JSON" in sentence or "twice" in sentence or f"'{CORNER}' has " in sentence


@given(
    st.sampled_from([EMPTY, CORNER, LAST]),
    json_values | st.dictionaries(st.text("123456789"), st.integers()),
)
@settings(max_examples=25)
def test_whatever_is_put_in_place_of_weights_is_refused_or_read(
    path: Path, text: str, position: str, put: object
) -> None:
    """What is read are chances of free cells that add up to one, or none at all."""
    line = f'"{position}":{{"9":1}}'
    assert line in text
    path.write_text(text.replace(line, f'"{position}":{json.dumps(put)}', 1))
    try:
        policy = load_policy(path)
    except errors.NotAPolicy as refusal:
        assert str(refusal).startswith(f"{path} holds no policy: ")
        assert str(refusal).isprintable()
    else:
        board = parse_board(position)
        chances = policy(board)
        assert {*chances} <= {*board.free_cells}
        assert sum(chances.values()) == (1 if put else 0)


@given(st.data())
@settings(max_examples=15)
def test_a_file_that_is_cut_short_is_refused(path: Path, text: str, data: st.DataObject) -> None:
    """Wherever that is."""
    path.write_text(text[: data.draw(st.integers(0, len(text) - 2))])

    check_refused(path)


@given(st.data())
@settings(max_examples=15)
def test_a_byte_that_has_changed_is_refused_or_read(path: Path, text: str, data: st.DataObject) -> None:
    """Either way there is no other error than a refusal."""
    whole = bytearray(text.encode())
    whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(whole)
    try:
        policy = load_policy(path)
    except errors.NotAPolicy as refusal:
        assert str(refusal).startswith(f"{path} holds no policy: ")
    else:
        assert sum(policy(Board()).values()) == 1


@given(st.binary(max_size=200) | json_values.map(lambda value: json.dumps(value).encode()))
@settings(max_examples=50)
def test_any_bytes_are_refused(path: Path, written: bytes) -> None:
    """There is no policy that short."""
    path.write_bytes(written)

    check_refused(path)


def test_no_name_opens_a_file(path: Path, text: str) -> None:
    """Whoever lets strangers ask for a policy does not let them look at files."""
    path.write_text(text)
    with pytest.raises(errors.UnknownPolicy, match="there is no policy 'saved'"):
        find_policy(f"saved:file={path}")
