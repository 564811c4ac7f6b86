"""What a command works with: output, errors, input, signals and random numbers."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from functools import cached_property
from io import BufferedReader
from random import Random
from typing import BinaryIO, TextIO

from noughts.cli.screen import Screen, is_cramped
from noughts.cli.signals import PolledInput, Poller
from noughts.text.wordings import WORDINGS


class Console:
    """The terminal that a command runs in; each of its streams may be missing."""

    def __init__(self) -> None:
        self.err: TextIO | None = sys.stderr

    @cached_property
    def out(self) -> TextIO:
        if not sys.stdout:
            return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - until the process ends
        # A name that the terminal's encoding cannot show is escaped instead of failing.
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # it is a file
        return sys.stdout

    @property
    def binary_out(self) -> BinaryIO:
        """Standard output for data, which is UTF-8 whatever the locale is."""
        return sys.stdout.buffer if sys.stdout else open(os.devnull, "wb")  # noqa: PTH123 - as above

    @cached_property
    def poller(self) -> Poller:
        return Poller()

    def input(self) -> BinaryIO | None:
        """Return standard input; Ctrl-C ends a read from it at once."""
        return BufferedReader(PolledInput(sys.stdin.fileno(), self.poller)) if sys.stdin else None

    def rng(self, seed: str | None = None) -> Random:
        return Random(None if seed is None else os.fsencode(seed))  # noqa: S311 - games, not secrets

    def wants_colour(self, options: Namespace) -> bool:
        """Use colour if the option or the environment says so; otherwise on a terminal that has it."""
        if options.color != "auto":
            return bool(options.color == "always")
        if os.environ.get("NO_COLOR"):
            return False
        has_colour = self.out.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        return has_colour or bool(os.environ.get("FORCE_COLOR"))

    def screen(self, options: Namespace) -> Screen:
        out = self.out
        return Screen(
            out=out,
            wording=WORDINGS[options.wording],
            colour=self.wants_colour(options),
            spoken=options.describe,
            cramped=lambda: is_cramped(out),
            interactive=out.isatty() and bool(sys.stdin) and sys.stdin.isatty(),
            events=getattr(options, "events", False),
        )
