"""A fake console, terminal and keyboard, and a recording progress bar."""

from __future__ import annotations

from io import StringIO

from noughts.cli.console import Console
from noughts.cli.input import LineBuffer
from noughts.cli.progress import ProgressBar


class Terminal(StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True


class TypedAhead(LineBuffer):
    """Lines that were typed before the game began."""

    def __init__(self, *lines: str) -> None:
        super().__init__(None)
        self._lines.extend(line.encode() for line in lines)


def fake_console(out: StringIO, err: StringIO | None = None) -> Console:
    console = Console()
    console.out, console.err = out, err
    return console


class RecordingBar(ProgressBar):
    """A bar that records what it showed; it can raise KeyboardInterrupt after some work."""

    def __init__(self, total: int = 0, interrupts_at: int = 10**18) -> None:
        self.total = total
        self.shown: list[int] = []
        self.is_clear = True
        self._interrupts_at = interrupts_at

    def show(self, done: int) -> None:
        self.shown.append(done)
        self.is_clear = False
        if done >= self._interrupts_at:
            raise KeyboardInterrupt

    def clear(self) -> None:
        self.is_clear = True
