"""Sends visitors to stores: other processes that open them, record a game and close them again."""

from __future__ import annotations

import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

from support.command import script

if TYPE_CHECKING:
    from collections.abc import Iterator


class Visitor:
    """Another process, as seen from here."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin
        assert process.stdout
        self._said, self._heard = process.stdin, process.stdout
        assert self.heard() == "here"

    def send(self, url: str) -> None:
        """Let it visit a store."""
        self._said.write(f"{url}\n")
        self._said.flush()

    def heard(self) -> str:
        """Wait until it has something to tell."""
        return self._heard.readline().rstrip("\n")


@contextmanager
def visitor(name: str, who: str = "") -> Iterator[Visitor]:
    """Have a visitor as long as it is needed."""
    with subprocess.Popen(
        [*script("visitor"), name, who], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Visitor(process)
