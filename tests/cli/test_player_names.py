"""One grammar for players in every command: `ann`, `bot:club`, `program:./my-bot`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from noughts.bots.registry import BUILT_IN
from support.forked import noughts
from support.saved_games import file, save, saving

BARE = [*BUILT_IN, "Perfect", "club:block=1/3", "menace:file=m.json", "saved:file=q.json"]


@pytest.mark.parametrize("bot", BARE)
@pytest.mark.parametrize("seat", ["--x", "--o"])
@pytest.mark.parametrize("command", ["play", "watch"])
def test_a_bots_bare_name_is_refused_for_a_person(
    command: str, seat: str, bot: str, tmp_path: Path
) -> None:
    ran = noughts(command, seat, bot, typed="1\n", env=saving(tmp_path))

    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == (
        f"noughts: {bot!r} is a bot, not a person: write bot:{bot[0].lower()}{bot[1:]}\n"
    )
    assert not file(tmp_path).exists()


@pytest.mark.parametrize("bot", BARE)
def test_a_bots_bare_name_is_refused_in_a_game_that_was_left(bot: str, tmp_path: Path) -> None:
    save(tmp_path, "left", "5", x="ann", o="bob")
    before = file(tmp_path).read_bytes()

    ran = noughts("resume", "--o", bot, env=saving(tmp_path))

    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.endswith(f"is a bot, not a person: write bot:{bot[0].lower()}{bot[1:]}\n")
    assert file(tmp_path).read_bytes() == before


def test_a_name_in_watch_is_a_bot_that_moves_at_random() -> None:
    """The same seed plays the same moves, whatever the names."""
    named = noughts("watch", "--interval", "0", "--seed", "7", "--x", "ann", "--o", "bob")
    unnamed = noughts("watch", "--interval", "0", "--seed", "7")

    assert (named.returncode, named.stderr) == (0, "")
    boards = [
        [line for line in ran.stdout.splitlines() if set(line) <= {*"XO |-+"}] for ran in (named, unnamed)
    ]
    assert boards[0] == boards[1] != []
    assert "a name for a bot that moves at random" in " ".join(noughts("watch", "--help").stdout.split())


ONLY_BOTS = {
    "odds": ["odds", "{}", "perfect"],
    "odds, O": ["odds", "perfect", "{}"],
    "odds as data": ["odds", "--json", "{}", "perfect"],
    "odds as a table": ["odds", "--csv", "{}", "perfect"],
    "certify": ["certify", "{}"],
    "menace": ["menace", "train", "--games", "3", "--seed", "1", "--new", "--against", "{}"],
    "tournament": ["tournament", "{}", "random"],
    "tournament as a table": ["tournament", "--csv", "{}", "random"],
}


@pytest.mark.parametrize("words", ONLY_BOTS.values(), ids=ONLY_BOTS)
def test_both_spellings_are_one_bot_where_only_bots_play(words: list[str], tmp_path: Path) -> None:
    bare, prefixed = (
        noughts(*(word.format(text) for word in words), env=saving(tmp_path))
        for text in ("club:block=1/3", "bot:club:block=1/3")
    )

    assert (bare.returncode, bare.stderr) == (0, "")
    assert (prefixed.returncode, prefixed.stdout) == (0, bare.stdout)
    assert "bot:" not in bare.stdout


def test_both_spellings_are_one_bot_in_a_simulation() -> None:
    line = ["simulate", "--json", "--games", "100", "--seed", "1", "--jobs", "1"]
    bare, prefixed = (
        json.loads(noughts(*line, "--x", f"{prefix}club", "--o", f"{prefix}random").stdout)
        for prefix in ("", "bot:")
    )

    assert (prefixed["x"], prefixed["o"]) == ("club", "random")
    assert bare | {"seconds": 0} == prefixed | {"seconds": 0}
