"""A third-party package of bots, some of which cannot play."""

from __future__ import annotations

from pathlib import Path

from support.saved_games import saving

STRANGERS = """
from noughts import find_policy

def fine(**_):
    return find_policy("random")

def broken():
    return lambda board: 1 / 0

def needy(cell):
    return lambda board: {int(cell): 1}
"""


def offered(folder: Path) -> dict[str, str]:
    """Return the environment of a user with a third-party package of bots."""
    (folder / "strangers.py").write_text(STRANGERS)
    about = folder / "strangers-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: strangers\nVersion: 1.0\n")
    names = "".join(f"{name} = strangers:{name}\n" for name in ("fine", "broken", "needy"))
    (about / "entry_points.txt").write_text(f"[noughts.policies]\n{names}")
    return {**saving(folder), "PYTHONPATH": str(folder)}
