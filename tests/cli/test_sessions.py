"""What the command says, as sessions in `tests/cli/sessions`: each has its own empty home folder."""

from __future__ import annotations

import os
from difflib import unified_diff
from pathlib import Path

import pytest

from support.sessions import Session, sessions_of

FILES = sorted((Path(__file__).parent / "sessions").glob("*.txt"))
SESSIONS = [session for file in FILES for session in sessions_of(file)]
WRITES = bool(os.environ.get("WRITE_SESSIONS"))


@pytest.mark.parametrize(
    "session", SESSIONS, ids=lambda session: f"{session.file.stem}: {session.sentence}"
)
def test_a_session(session: Session, tmp_path: Path) -> None:
    now = session.replay(tmp_path)

    if WRITES:
        whole = session.file.read_text(encoding="utf-8")
        session.file.write_text(whole.replace(session.source, now), encoding="utf-8")
    elif now != session.source:
        was, is_now = session.source.splitlines(), now.splitlines()
        pytest.fail("\n".join(unified_diff(was, is_now, "written", "now", lineterm="")), pytrace=False)


WRITTEN = """\
A game that was left can be resumed.

  $ noughts play
  > 5 / 1 / quit
  ...
  So long!

  $ noughts games
  $ noughts resume <id> --describe
  Anybody, enter a position from 1 to 9:
  > 9
  ...
  Goodbye!
  $ cat letter
  Dear Ann,
"""
NOW = """\
  $ noughts play
  > 5 / 1 / quit
  ...
  Goodbye!

  $ noughts games
  game      started           cells  X  O  result
  <id>  <date> <time>  51     -  -  X to move
  $ noughts resume <id> --describe
  X on 5, O on 1; X to move.
  Player X, enter a position from 1 to 9:
  > 9
  ...
  Goodbye!
  $ cat letter
  ! cat: letter: No such file or directory
  [exit 1]
"""


def test_a_session_that_says_something_else_is_written_anew(tmp_path: Path) -> None:
    """What still fits keeps its placeholders."""
    file = tmp_path / "written.txt"
    file.write_text(WRITTEN)
    (session,) = sessions_of(file)

    assert session.sentence == "A game that was left can be resumed."
    assert session.replay(tmp_path) == NOW
