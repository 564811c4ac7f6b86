"""No line is wider than the window, whatever a command lists, reports or refuses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from noughts.text.columns import display_width
from support.pseudo_terminal import in_terminal
from support.saved_games import DRAW, X_WINS, change, save, saving

LONG = "Wilhelmine-Friederike von Anhalt"
WIDE = "三目並べの名人三目並べの名人三目並べの名人"
LATE = "XO_/OX_/___"

COMMANDS = [
    "games",
    "games --limit 1",
    "games --player nobody",
    "show X_O/_X_/___ --describe",
    "analyse X_O/_X_/___",
    "analyse 152746893",
    "analyse first",
    "events first",
    "odds club perfect",
    "odds club:win=0,block=0,fork=0,defence=0,centre=0 random",
    f"odds --all --from {LATE}",
    "certify perfect club:block=1/3",
    "menace train --games 50 --seed a --new",
    "menace box ___/___/___",
    "tournament random novice casual club expert perfect newell-simon menace",
    "simulate --games 100000",
    "store verify",
    "store backup copy",
    "store --help",
    "watch --interval 0 --seed 1 --describe --x bot:perfect --o bot:newell-simon",
    "replay first --interval 0",
    # Refusals
    "odds perfect",
    "odds perfect nonesuch",
    "play --x perfect",
    "play --x one two three four five six seven eight nine ten eleven twelve thirteen",
    "analyse nonesuch",
    "resume first --o bot:perfect",
    "dataset",
    "games --store sqlite:missing/folder/games",
]


@pytest.mark.parametrize("columns", [80, 50])
@pytest.mark.parametrize("line", COMMANDS)
def test_a_line_fits_the_window(
    line: str, columns: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a single word, such as a path, may be longer; help is as wide as the window."""
    monkeypatch.chdir(tmp_path)
    save(tmp_path, "first", *DRAW[:6], x=LONG, o=WIDE)
    save(tmp_path, "second", *X_WINS, x="ann", o="bot:saved:file=a-long-name.json")
    save(tmp_path, "damaged", "5")
    change(tmp_path, "UPDATE games SET hour = 7 WHERE id = 'damaged'")

    with in_terminal(*line.split(), size=(columns, 50), env=saving(tmp_path)) as session:
        session.end()

    assert session.output
    for shown in re.split("[\r\n]+", session.output.decode()):
        plain = re.sub("\x1b\\[[0-9;]*m", "", shown)
        assert display_width(plain) <= columns or " " not in plain.strip(), plain
