"""Hostile keys on a board in place: whatever is pressed and done to the window, it ends cleanly.

The number of a run is its seed: run 17 is repeated with `-k '[17]'`. There are two dozen runs; with
NOUGHTS_TORTURE=1, two thousand and five hundred.
"""

from __future__ import annotations

import signal
from pathlib import Path
from random import Random

import pytest

from support.length import short_or_long
from support.live_board import LiveBoard
from support.pseudo_terminal import CTRL_C, CTRL_D, CTRL_Z
from support.saved_games import DRAW, save, url

RUNS = short_or_long(24, 2500)

KEYS = [
    *(key.encode() for key in "1234567890hwur?qyno+-#zHWUR \r\n\t\x0c\x7f"),
    *(b"\x1b[A", b"\x1b[B", b"\x1b[C", b"\x1b[D", b"\x1bOA", b"\x1b[1;5C", b"\x1b", b"\x1b\x1b"),
    *(b"\x1b[<0;3;3M", b"\x1b[<0;3;3m", b"\x1b[<0;99999;99999M", b"\x1b[<64;1;1M", b"\x1b[<0;0;0M"),
    *(b"\x1b[<", b"\x1b[M   ", b"\x1b[200~why\x1b[201~", b"\x1b[99999999999999999999999~", b"\x1bO"),
    *(b"\xff", b"\xe2\x82", b"\x00", b"\x07", "\u202e".encode(), "\u540d".encode(), b"9" * 3000),
]
COMMANDS = [
    ["play"],
    ["play", "--o", "bot:beginner"],
    ["play", "--x", "bot:perfect", "--o", "bot:club", "--no-save"],
    ["play", "--x", "\u540d" * 16, "--o", "bot:menace", "--wording", "gem"],
    ["play", "--x", "{player}", "--first", "random", "--color", "never"],
    ["resume"],
    ["resume", "--wording", "narrative"],
    ["replay", "won"],
    ["replay", "won", "--interval", "0.01"],
    ["watch", "--interval", "0.01"],
    ["watch", "--x", "bot:club", "--games", "3", "--interval", "0"],
    [],
]
ENDS = ["SIGTERM", "SIGHUP", "hang up", "Ctrl-C", "keys"]
FATAL = [CTRL_C, CTRL_D]


@pytest.mark.torture
@pytest.mark.parametrize("seed", range(RUNS))
def test_hostile_keys_end_cleanly(seed: int, tmp_path: Path) -> None:
    rng = Random(seed)
    save(tmp_path, "won", "1", "5", "2", "9", "3", x="Ann")
    save(tmp_path, "left", *DRAW[:4])
    with LiveBoard(
        tmp_path,
        *COMMANDS[seed % len(COMMANDS)],
        size=_size(rng),
        env={"NOUGHTS_STORE": url(tmp_path)},
    ) as live:
        live.session.wait_for(".")
        for _ in range(rng.randrange(40)):
            _disturb(live, rng)
        way = rng.choice(ENDS)
        if way == "keys":
            live.press(*[b"\x1b", b"q", b"n"] * 5, *rng.choices(FATAL, k=3))
            live.session.send(signal.SIGCONT)
            live.press(CTRL_C)
            code = live.end()
        else:
            live.session.send(signal.SIGCONT)
            code = live.session.end_by(way)

    shown = live.session.output.decode("utf-8", "replace")
    assert "Traceback" not in shown
    assert "Error" not in shown
    assert code in {0, 2, 129, 130, 143}
    assert live.session.settings() in ([], live.session.initial_settings)
    assert shown.rfind("\x1b[?1049h") <= shown.rfind("\x1b[?1049l") or way == "hang up"


def _size(rng: Random) -> tuple[int, int]:
    return rng.choice([(20, 5), (80, 24), (200, 60), (rng.randrange(1, 120), rng.randrange(1, 50))])


def _disturb(live: LiveBoard, rng: Random) -> None:
    """Press something, or do something to the window."""
    what = rng.random()
    if what < 0.9:
        live.press(rng.choice(KEYS))
    elif what < 0.97:
        live.session.resize(*_size(rng))
    else:
        live.press(CTRL_Z)
        live.session.send(signal.SIGCONT)
