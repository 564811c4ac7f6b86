"""Uses the library as mypy sees it: lazily imported public names are typed too.

`make check` fails if an expected error is not found.
"""

from __future__ import annotations

from typing import assert_type

import noughts
from noughts import Board, Mark, X, decide


def use() -> None:
    assert_type(Board().place(4, X).winner, Mark | None)
    decide(None, 5)  # type: ignore[arg-type]  # not a command
    Board().plaice(4)  # type: ignore[attr-defined]  # misspelt
    noughts.Bord()  # type: ignore[attr-defined]  # not a public name
