"""The lab's page and its example, from learning to a bot in the terminal and on the web."""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from itertools import islice
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray

from noughts import O, Result, X, certify, find_policy, load_policy, prospects, reachable
from support.command import environment
from support.forked import noughts
from support.remote import home
from support.web.serving import Server

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "q_learning.py"
PAGE = ROOT / "docs" / "lab.md"
SERVED = "http://127.0.0.1:8000"
"""The server on the page; here it has another port."""
SIGNS = {Result.WIN: 1, Result.DRAW: 0, Result.LOSS: -1}


def blocks(language: str) -> list[str]:
    """Return the code blocks of the page in a language."""
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)


def commands() -> list[list[str]]:
    """Return the words of each command on the page."""
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    return [shlex.split(line, comments=True) for line in lines]


def session(program: str) -> tuple[list[str], str]:
    """Return a session on the page: the arguments and the output."""
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
    """Run the example as on the page; return its folder and its output."""
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
    """Start a server with the learned bot, as on the page."""
    folder, _ = learned
    options = next(words[2:] for words in commands() if words[1] == "serve")
    here = [word.replace("q.json", str(folder / "q.json")) for word in options]
    with Server("memory:", *here) as server:
        yield server
        assert server.stop() == 0
        assert b"Traceback" not in server.errors


def test_the_page_shows_the_output_of_the_example(learned: tuple[Path, str]) -> None:
    _, said = learned

    assert said == session("python")[1]


def test_the_page_shows_the_loop_of_the_example() -> None:
    loop = re.search(r"    while True:\n(?: {8}.*\n)+", EXAMPLE.read_text())
    assert loop

    assert dedent(loop[0]) in blocks("python")
    assert loop[0].count("\n") == 10


def test_the_learned_policy_never_loses(example: ModuleType, learned: tuple[Path, str]) -> None:
    policy = load_policy(learned[0] / "q.json")
    as_x, as_o = example.both_odds(policy, find_policy("perfect"))
    assert (as_x.draw, as_o.draw) == (1, 1)
    others = (example.greedy(next(islice(example.learning(seed), 150, None))) for seed in (0, 2))

    for one in (policy, *others):  # with other seeds too, and fewer steps
        assert [certify(one, mark).games[Result.LOSS] for mark in (X, O)] == [0, 0]


def test_values_only_get_closer_to_the_truth(example: ModuleType) -> None:
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


def test_a_new_table_plays_at_random(example: ModuleType) -> None:
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
def test_invalid_arguments_are_refused_before_learning(
    typed: list[str],
    sentence: str,
    example: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["q_learning.py", *typed])

    with pytest.raises(SystemExit):
        example.main()

    said = capsys.readouterr()
    assert said.out == ""
    assert f"q_learning.py: error: {sentence}" in said.err


def test_the_commands_of_the_page_work(learned: tuple[Path, str]) -> None:
    folder, _ = learned
    by_name = {words[1]: words[1:] for words in commands()}
    assert [*by_name] == ["install", "odds", "certify", "tournament", "play", "serve", "join"]
    ran = {
        name: noughts(*by_name[name], typed="5\n", cwd=folder)
        for name in ("odds", "certify", "tournament", "play")
    }

    assert {(one.returncode, one.stderr) for one in ran.values()} == {(0, "")}
    assert re.search(r"^O wins +0 %  0$", ran["odds"].stdout, re.MULTILINE)
    assert "It never loses" in ran["certify"].stdout
    assert "saved:file=q.json" in ran["tournament"].stdout
    assert re.search(r"^saved:file=q\.json \(bot\) takes [1379]\.$", ran["play"].stdout, re.MULTILINE)


def test_a_server_lists_the_bot_and_plays_a_whole_game(server: Server) -> None:
    with server.client() as client:
        listed = client.get("/bots").json["bots"][-1]
        assert listed["policy"] == "q-learner"
        assert listed["againstPerfect"] == {"wins": 0.0, "draws": 1.0, "losses": 0.0}
        seat = client.create("bot", bot="q-learner")
        game, client.secret = seat["id"], seat["secrets"]["X"]
        now = client.read(game)
        with client.follow(game) as stream:
            while not now["over"]:
                cell = now["board"].replace("/", "").index("_")
                answer = client.move(game, cell, now["version"]).json
                if answer["events"][-1] == {"schema": 1, "event": "playerActive", "mark": "O"}:
                    stream.wait_version(answer["version"] + 3)
                now = client.read(game)

    assert now["room"]["seats"]["O"]["bot"] == "q-learner"
    assert now["winner"] in ("O", None)
    assert len(now["moves"]) > 5


def test_the_bot_of_a_server_can_be_played_in_a_terminal(server: Server, tmp_path: Path) -> None:
    joining = next(words[1:] for words in commands() if words[1] == "join")
    words = [word.replace(SERVED, server.url) for word in joining]

    ran = noughts(*words, typed="resign\n", env=home(tmp_path))

    assert (ran.returncode, ran.stderr) == (0, "")
    assert "q-learner (bot)" in ran.stdout


def test_the_examples_on_the_page_work() -> None:
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)

    assert tried > 15
    assert failed == 0


def test_the_page_shows_the_output_of_a_simulation() -> None:
    typed, shown = session("noughts simulate")

    ran = noughts(*typed)

    assert (ran.returncode, ran.stderr) == (0, "")
    took = re.compile(r"in [\d.]+ s$", re.MULTILINE)
    assert took.sub("", ran.stdout) == took.sub("", shown)
