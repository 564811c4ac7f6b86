"""The machine that learns: trained on the command line, inspected, and played against."""

from __future__ import annotations

import signal
from argparse import Namespace
from collections.abc import Callable
from fractions import Fraction
from io import StringIO
from pathlib import Path
from random import Random
from typing import TypeAlias

import pytest

from noughts import CreateGame, Mark, O, Resign, X, decide, fold, parse_moves, replay
from noughts.analysis.solver import Result
from noughts.bots.menace.file import load_machine, save_machine
from noughts.bots.menace.machine import BeadRules, Menace
from noughts.bots.menace.training import Training
from noughts.bots.policy import CachedPolicy
from noughts.bots.program import poll
from noughts.bots.registry import find_policy
from noughts.cli.commands import menace
from noughts.cli.opponents import Opponents, lock_machine
from noughts.files import FileUnavailable
from noughts.text.catalogue import ENGLISH
from support.command import environment, run_unread
from support.fake_console import Terminal, fake_console
from support.forked import noughts
from support.pseudo_terminal import CTRL_C, in_terminal
from support.saved_games import digits, save, saving

Train: TypeAlias = Callable[..., str]

CURVE_POINTS = 2
"""Few, for computing the odds takes longer than all the games."""


@pytest.fixture
def train(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Train:
    """Return a function that trains a new user's machine and returns the output."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(menace, "CURVE_POINTS", CURVE_POINTS)

    def run(games: int, *, errors: StringIO | None = None, **options: object) -> str:
        out = StringIO()
        usual = {"against": "random", "seat": "X", "seed": None, "new": None, "file": None, "plot": None}
        asked = Namespace(task="train", games=games, json=False, **{**usual, **options})
        menace.run(asked, fake_console(out, errors))
        return out.getvalue()

    return run


def kept(folder: Path) -> Path:
    """Return the file of the user's machine."""
    return folder / "noughts" / "menace.json"


def trained(
    games: int, seed: str, *, against: str = "random", mark: Mark = X, rules: BeadRules | None = None
) -> Menace:
    """Return a machine that has learned from this many games."""
    machine = Menace(rules)
    Training(machine, CachedPolicy(find_policy(against)), Random(seed.encode()), mark).play(games)
    return machine


def same(machine: Menace, other: Menace) -> bool:
    """Return whether two machines have the same rules, beads and results."""
    return (machine.rules, machine.boxes, machine.results) == (other.rules, other.boxes, other.results)


# Training


def test_training_is_kept_for_the_user(train: Train, tmp_path: Path) -> None:
    train(60, seed="a", seat="O", against="club", new="empty=refill")

    rules = BeadRules(empty="refill")
    assert same(load_machine(kept(tmp_path)), trained(60, "a", against="club", mark=O, rules=rules))


def test_the_learning_curve_is_drawn(train: Train) -> None:
    """A column for each point; odds whose fractions are too long for a line are shown only in percent."""
    said = train(2000, seed="a")

    rows = [line.partition("|")[2].ljust(CURVE_POINTS + 1) for line in said.splitlines()[:11]]
    columns = ["".join(column).strip() for column in zip(*rows, strict=True)]
    assert columns[0].replace(" ", "") == "wld"
    assert rows[4][0] == "w"  # sixty in a hundred
    assert all(len(column.replace(" ", "")) in (2, 3) for column in columns)
    assert rows.index(next(row for row in rows if row[CURVE_POINTS] == "w")) < 4
    for long in (said, train(3000, seed="a", new="")):
        line = next(line for line in long.splitlines() if line.startswith("Now it"))
        assert "exactly" not in line
        assert "about" not in line


def test_the_odds_are_exact(train: Train) -> None:
    said = train(1, seed="a", against="perfect")

    line = next(line for line in said.splitlines() if line.startswith("Now it"))
    assert line.startswith("Now it wins 0 %, draws ")
    *_, win, draw, loss = line.removesuffix(".").replace(",", "").split(" ")
    assert "; exactly 0, " in line
    assert Fraction(win) + Fraction(draw) + Fraction(loss) == 1
    assert line.endswith(".")


def test_a_machine_in_a_file_of_its_own(train: Train, tmp_path: Path) -> None:
    own = tmp_path / "my own" / "machine.json"

    said = train(20, seed="a", file=str(own))

    assert same(load_machine(own), trained(20, "a"))
    assert f"kept in {own}.\n" in said
    assert not kept(tmp_path).exists()


def test_the_same_seed_teaches_the_same(train: Train, tmp_path: Path) -> None:
    written = []
    for number, seed in enumerate(["a", "a", "b", None]):
        own = tmp_path / str(number)
        train(50, file=str(own), seed=seed)
        written.append(own.read_bytes())

    assert written[0] == written[1]
    assert len({*written}) == 3


@pytest.mark.parametrize(
    ("new", "rules"),
    [
        ("", BeadRules()),
        ("empty=refill,win=5", BeadRules(empty="refill", win=5)),
        ("beads=8-4-2-1,draw=0,loss=-2,blame=last", BeadRules((8, 4, 2, 1), 3, 0, -2, "last")),
    ],
)
def test_a_new_machine_replaces_the_old_one(
    new: str, rules: BeadRules, train: Train, tmp_path: Path
) -> None:
    save_machine(trained(10, "before"), kept(tmp_path))

    said = train(20, seed="a", new=new)

    assert same(load_machine(kept(tmp_path)), trained(20, "a", rules=rules))
    assert "It has learned from 20 games" in said


def test_empty_boxes_are_reported(train: Train) -> None:
    said = train(2000, seed="a", seat="O", against="perfect")

    assert "\nNow it wins 0 %, draws 0 %, loses 100 %; exactly 0, 0, 1.\n" in said
    assert (
        "\nIts boxes have run empty, so it resigns: --new empty=refill makes one that does not.\n"
    ) in said


def test_a_training_whose_report_nobody_reads_is_kept(tmp_path: Path) -> None:
    """The report is not the file: that nobody reads it is no error, as everywhere."""
    file = tmp_path / "machine"
    asked = "menace", "train", "--games", "3", "--file", str(file)

    ran = run_unread(*asked, env=environment(PYTHONUNBUFFERED="1"))

    assert (ran.returncode, ran.stderr) == (0, "")
    assert load_machine(file).games == 3


# Progress


def test_progress_is_shown_in_a_terminal(train: Train) -> None:
    errors = Terminal()

    said = train(20, errors=errors)

    shown = errors.getvalue().split("\r")
    assert shown[1:3] == [f"[{' ' * 30}] 0 %", f"[{'#' * 15}{' ' * 15}] 50 %"]
    assert [text.strip() for text in shown[3:]] == ["", ""]
    assert "[" not in said
    assert "\r" not in said


@pytest.mark.parametrize("errors", [StringIO(), None])
def test_progress_is_not_shown_elsewhere(errors: StringIO | None, train: Train) -> None:
    train(20, errors=errors)

    assert errors is None or errors.getvalue() == ""


@pytest.mark.parametrize(("way", "code"), [("Ctrl-C", 130), ("SIGTERM", 143)])
def test_training_can_be_interrupted(way: str, code: int, tmp_path: Path) -> None:
    """The file has a complete machine that has learned from the first games."""
    line = ["menace", "train", "--games", "300000", "--seed", "a"]
    with in_terminal(*line, env=saving(tmp_path)) as session:
        assert session.wait_for(r"\] [1-9]")

        if way == "Ctrl-C":
            session.type(CTRL_C)
        else:
            session.send(signal.SIGTERM)

        assert session.end() == code
        assert b"Traceback" not in session.output
    machine = load_machine(kept(tmp_path))
    assert 0 < machine.games < 300_000
    assert same(machine, trained(machine.games, "a"))
    assert [path.name for path in kept(tmp_path).parent.iterdir()] == ["menace.json"]


# Boxes


def boxed(folder: Path, board: str) -> str:
    """Return how a box of the machine in a data folder is shown."""
    out = StringIO()
    options = Namespace(task="box", position=board, first="X", file=str(kept(folder)), json=False)
    menace.run(options, fake_console(out))
    return out.getvalue()


def test_a_box_is_shown_as_it_is_now(tmp_path: Path) -> None:
    machine = Menace(BeadRules(beads=(400, 3, 2, 1), win=1234))
    machine.learn((0, 4, 1, 5, 2), X)
    save_machine(machine, kept(tmp_path))

    assert boxed(tmp_path, "_________") == (
        " 1634 | 400  |  .\n"
        "------+------+------\n"
        "  .   | 400  |  .\n"
        "------+------+------\n"
        "  .   |  .   |  .\n"
        "2,434 beads: 1 67.1 %, 2 16.4 %, 5 16.4 %.\n"
        "A cell with . is symmetric to another one, and has no beads of its own.\n"
    )


def test_an_empty_box(tmp_path: Path) -> None:
    machine = Menace()
    machine.boxes[0] = [0, 0, 0]
    save_machine(machine, kept(tmp_path))

    empty = boxed(tmp_path, "___/___/___").splitlines()

    assert (empty[0], empty[5]) == ("  0  |  0  |  .", "The box is empty: the machine resigns.")


# Playing against it


def test_a_game_against_it_teaches_it(tmp_path: Path) -> None:
    env = saving(tmp_path)

    for games in (1, 2):
        line = ["play", "--x", "ann", "--o", "bot:menace"]
        ran = noughts(*line, typed="\n".join("159263748"), env=env)
        assert (ran.returncode, ran.stderr) == (0, "")
        assert f"\nmenace (bot) has learned from {games} game{'s' * (games > 1)}.\nScore: " in ran.stdout

    expected = Menace()
    for moves in reversed(digits(tmp_path)):
        expected.learn(parse_moves(moves), O)
    assert same(load_machine(kept(tmp_path)), expected)


def test_a_game_that_is_resumed_teaches_it(tmp_path: Path) -> None:
    """From its first move on, even if another machine made it."""
    save(tmp_path, "left", "5", "1", "9", x="ann", o="bot:menace")

    ran = noughts("resume", typed="resign\nresign\n", env=saving(tmp_path))

    assert (ran.returncode, ran.stderr) == (0, "")
    expected = Menace()
    expected.learn(parse_moves(digits(tmp_path)[0]), O, resigned=X)
    assert same(load_machine(kept(tmp_path)), expected)


def test_it_learns_in_both_seats(tmp_path: Path) -> None:
    """One machine learns twice from one game."""
    ran = noughts("play", "--x", "bot:menace", "--o", "bot:menace", env=saving(tmp_path))

    assert (ran.returncode, ran.stderr) == (0, "")
    moves = parse_moves(digits(tmp_path)[0])
    expected = Menace()
    for mark in (X, O):
        expected.learn(moves, mark)
    assert same(load_machine(kept(tmp_path)), expected)


def test_it_resigns_where_its_box_is_empty(tmp_path: Path) -> None:
    machine = Menace()
    machine.boxes = [[0] * len(beads) for beads in machine.boxes]
    save_machine(machine, kept(tmp_path))

    ran = noughts("play", "--x", "bot:menace", typed="n\n", env=saving(tmp_path))

    assert (ran.returncode, ran.stderr) == (0, "")
    assert "menace (bot) resigned.\n" in ran.stdout
    assert load_machine(kept(tmp_path)).results[Result.LOSS] == 1


# Failures


def test_only_one_process_trains_a_machine_at_a_time(train: Train, tmp_path: Path) -> None:
    """Otherwise what one of two has learned would be lost."""
    train(10, seed="a")
    before = kept(tmp_path).read_bytes()
    with (
        lock_machine(kept(tmp_path)),
        pytest.raises(FileUnavailable, match="another noughts is training"),
    ):
        train(10, seed="b")
    assert kept(tmp_path).read_bytes() == before

    train(10, seed="b")
    assert load_machine(kept(tmp_path)).games == 20


def test_what_was_learned_elsewhere_meanwhile_is_kept(train: Train, tmp_path: Path) -> None:
    opponent = Opponents(Random(1), poll, saves=True).seat("bot:menace")
    assert opponent
    train(10)

    game = replay(decide(None, CreateGame()))
    words = opponent.finish_game(fold(decide(game, Resign(X)), game), O, ENGLISH)

    assert words == "bot:menace has learned from 11 games."
    assert load_machine(kept(tmp_path)).games == 11
