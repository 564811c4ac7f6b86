"""Pictures of boards, written to a file or to standard output."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

from noughts.core.board import Board, Cell
from noughts.core.errors import printable
from noughts.files import write_output
from noughts.text.svg import svg


def write_svg(board: Board, last: Cell | None, file: str, out: TextIO) -> None:
    """Draw a board into a file, whole or not at all; `-` is `out`."""
    picture = svg(board, last)
    if file == "-":
        out.write(picture)
        return
    write_output(file, picture.encode())
    if Path(file).is_file():  # not a pipe, whose reader may be reading our output too
        out.write(printable(f"Wrote {file}.") + "\n")
