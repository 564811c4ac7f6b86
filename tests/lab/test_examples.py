"""The lab's page and its example: from a table of zeros to a bot in the terminal and on the web."""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from itertools import islice
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

import numpy as np
import pytest

from noughts import O, Result, X, certify, find_policy, load_policy, prospects, reachable
from support.command import environment
from support.forked import noughts
from support.remote import home
from support.web.serving import Server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from numpy.typing import NDArray

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "q_learning.py"
PAGE = ROOT / "docs" / "lab.md"
SERVED = "http://127.0.0.1:8000"
"""Where the page has a server; here it is somewhere else."""
SIGNS = {Result.WIN: 1, Result.DRAW: 0, Result.LOSS: -1}


def blocks(language: str) -> list[str]:
    """Return the code blocks of the page in a language."""
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)


def commands() -> list[list[str]]:
    """Return the words of each command that the page tells to type."""
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    return [shlex.split(line, comments=True) for line in lines]


def session(program: str) -> tuple[list[str], str]:
    """Return what the page types for a program, and what it shows then."""
    block = next(block for block in blocks("console") if block.startswith(f"$ {program} "))
    typed, _, shown = block.partition("\n")
    return shlex.split(typed)[2:], shown


@pytest.fixture(scope="module")
def example() -> ModuleType:
    """Return the example as a module."""
    spec = spec_from_file_location("q_learning", EXAMPLE)
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Run the example as the page does; return where its file is, and what it said."""
    folder = tmp_path_factory.mktemp("learned")
    (_, *options), _ = session("python")
    ran = subprocess.run(
        [sys.executable, str(EXAMPLE), *options],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return folder, ran.stdout


@pytest.fixture(scope="module")
def server(learned: tuple[Path, str]) -> Iterator[Server]:
    """Start a server that offers the learned bot, as the page does."""
    folder, _ = learned
    options = next(words[2:] for words in commands() if words[1] == "serve")
    here = [word.replace("q.json", str(folder / "q.json")) for word in options]
    with Server("memory:", *here) as server:
        yield server
        assert server.stop() == 0
        assert b"Traceback" not in server.errors


# Learning


def test_the_example_says_what_the_page_shows(learned: tuple[Path, str]) -> None:
    """To the letter: the same seed learns the same."""
    _, said = learned

    assert said == session("python")[1]


def test_the_loop_on_the_page_is_the_loop_of_the_example() -> None:
    """All of it, and it has ten lines."""
    loop = re.search(r"    while True:\n(?: {8}.*\n)+", EXAMPLE.read_text())
    assert loop

    assert dedent(loop[0]) in blocks("python")
    assert loop[0].count("\n") == 10


def test_what_was_learned_never_loses(example: ModuleType, learned: tuple[Path, str]) -> None:
    """Not to perfect, not to anybody, in either seat: none of all games that it can come to is lost."""
    folder, _ = learned
    policy = load_policy(folder / "q.json")

    as_x, as_o = example.both_odds(policy, find_policy("perfect"))

    assert (as_x.draw, as_o.draw) == (1, 1)
    assert [certify(policy, mark).games[Result.LOSS] for mark in (X, O)] == [0, 0]


def test_a_number_only_comes_nearer_to_the_truth(example: ModuleType) -> None:
    """It lies between 0 and what its move is worth, after any number of steps."""
    truth = np.full((5478, 9), -np.inf)
    for row, board in zip(truth, reachable(), strict=True):
        for cell, worth in prospects(board).items():
            row[cell] = SIGNS[worth.result] * example.DISCOUNT ** (worth.distance - 1)
    legal = np.isfinite(truth)
    before: NDArray[np.float64] = np.zeros(int(legal.sum()))

    for q in islice(example.learning(seed=2), 0, 129, 8):
        now = q[legal]
        assert np.isneginf(q[~legal]).all()
        assert (now * truth[legal] >= 0).all()
        assert (np.abs(now) <= np.abs(truth[legal]) + 1e-12).all()
        assert (np.abs(now) >= np.abs(before)).all()
        before = now

    assert np.count_nonzero(before) > 0.9 * np.count_nonzero(truth[legal])


@pytest.mark.parametrize("seed", [0, 2])
def test_zero_losses_are_no_luck_of_a_seed(example: ModuleType, seed: int) -> None:
    """After fewer steps than the example makes, whoever the opponent is."""
    q = next(islice(example.learning(seed), 150, None))

    policy = example.greedy(q)

    assert [certify(policy, mark).games[Result.LOSS] for mark in (X, O)] == [0, 0]


def test_a_table_that_knows_nothing_plays_at_random(example: ModuleType) -> None:
    """Evenly among the free cells."""
    policy, chance = example.greedy(example.new_table()), find_policy("random")

    assert all(policy(board) == chance(board) for board in reachable() if not board.is_over)


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        (["q.json", "--steps", "-5"], "--steps must be 0 or more, not -5"),
        (["q.json", "--seed", "-1"], "--seed must be 0 or more, not -1"),
        (["/none/q.json"], "'/none/q.json' cannot be written: No such file or directory"),
        (["."], "'.' cannot be written: it is not a regular file"),
        (["q.json/"], "'q.json/' cannot be written: it is not a regular file"),
        ([""], "'' cannot be written: it is not a regular file"),
        (["\0"], "'\\x00' cannot be written: "),
    ],
)
def test_what_cannot_be_is_said_before_anything_is_learned(
    typed: list[str],
    sentence: str,
    example: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In one sentence."""
    monkeypatch.setattr(sys, "argv", ["q_learning.py", *typed])

    with pytest.raises(SystemExit):
        example.main()

    said = capsys.readouterr()
    assert said.out == ""
    assert f"q_learning.py: error: {sentence}" in said.err


# The bot


def test_the_terminal_knows_how_good_the_bot_is(learned: tuple[Path, str]) -> None:
    """It loses 0 % against perfect, and never at all."""
    folder, _ = learned
    told = {
        words[1]: noughts(*words[1:], cwd=folder)
        for words in commands()
        if words[1] in ("odds", "certify", "tournament")
    }

    assert {(ran.returncode, ran.stderr) for ran in told.values()} == {(0, "")}
    assert re.search(r"^O wins +0 %  0$", told["odds"].stdout, re.MULTILINE)
    assert "**It never loses**" in told["certify"].stdout
    assert "saved:file=q.json" in told["tournament"].stdout


def test_the_bot_plays_in_the_terminal(learned: tuple[Path, str]) -> None:
    """It answers the move that is typed."""
    folder, _ = learned
    played = next(words[1:] for words in commands() if words[1] == "play")

    ran = noughts(*played, typed="5\n", cwd=folder)

    assert (ran.returncode, ran.stderr) == (0, "")
    assert re.search(r"^bot:saved:file=q\.json takes [1379]\.$", ran.stdout, re.MULTILINE)


def test_a_server_lists_the_bot_with_its_score(server: Server) -> None:
    """By the name that it was given."""
    with server.client() as client:
        listed = client.get("/bots").json["bots"]

    assert listed[-1]["policy"] == "q-learner"
    assert listed[-1]["againstPerfect"] == {"wins": 0.0, "draws": 1.0, "losses": 0.0}


def test_a_whole_game_is_played_with_the_bot_over_http(server: Server) -> None:
    """Against somebody who takes the first free cell, and does not win."""
    with server.client() as client:
        seat = client.create("bot", bot="q-learner")
        game, client.secret = seat["id"], seat["secrets"]["X"]
        now = client.read(game)
        with client.follow(game) as stream:
            while not now["over"]:
                cell = now["board"].replace("/", "").index("_")
                told = client.move(game, cell, now["version"]).json
                if told["events"][-1] == {"schema": 1, "event": "playerActive", "mark": "O"}:
                    stream.wait_version(told["version"] + 3)
                now = client.read(game)

    assert now["room"]["seats"]["O"]["bot"] == "q-learner"
    assert now["winner"] in ("O", None)
    assert len(now["moves"]) > 5


def test_the_bot_of_a_server_is_played_from_a_terminal(server: Server, tmp_path: Path) -> None:
    """As the page says."""
    joining = next(words[1:] for words in commands() if words[1] == "join")
    words = [word.replace(SERVED, server.url) for word in joining]

    ran = noughts(*words, typed="resign\n", env=home(tmp_path))

    assert (ran.returncode, ran.stderr) == (0, "")
    assert "bot:q-learner" in ran.stdout


# The page


def test_the_code_on_the_page_does_what_it_says() -> None:
    """Every example is run."""
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)

    assert tried > 15
    assert failed == 0


def test_a_simulation_says_what_the_page_shows() -> None:
    """But for how long it took."""
    typed, shown = session("noughts simulate")

    ran = noughts(*typed)

    assert (ran.returncode, ran.stderr) == (0, "")
    took = re.compile(r"in [\d.]+ s$", re.MULTILINE)
    assert took.sub("", ran.stdout) == took.sub("", shown)


def test_every_command_of_the_page_is_tried() -> None:
    """Here, or by whoever installs noughts."""
    tried = ["odds", "certify", "tournament", "play", "serve", "join"]

    assert [words[1] for words in commands()] == ["install", *tried]
