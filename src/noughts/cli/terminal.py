"""A terminal that sends single keys: its modes, its size, and how it is left as it was.

Ctrl-Z returns the terminal to the shell until `fg`; a resize ends the wait for input.
"""

from __future__ import annotations

import atexit
import os
import signal
import termios
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any, Self, TextIO

from noughts.cli.input import KeyReader
from noughts.cli.layout import window_size

FULL_SCREEN_ON = "\x1b[?1049h\x1b[?1000h\x1b[?1006h"
"""Another page of the terminal, without lines to scroll back to; and the mouse."""
FULL_SCREEN_OFF = "\x1b[?1006l\x1b[?1000l\x1b[?25h\x1b[0m\x1b[?1049l"
FALLBACK_SIZE = 80, 24


class KeyTerminal:
    """The terminal while its keys are read one by one; `with` restores it at the end."""

    def __init__(
        self,
        source: int,
        out: TextIO,
        *,
        full_screen: bool,
        on_return: Callable[[], None],
    ) -> None:
        self.source = source
        self._out = out
        self._target = os.dup(out.fileno())  # a command that is ended no longer uses its own output
        self._on, self._off = (FULL_SCREEN_ON, FULL_SCREEN_OFF) if full_screen else ("", "")
        self._on_return = on_return
        self._before = termios.tcgetattr(source)
        self._handlers_before: dict[signal.Signals, Any] = {}
        self._handlers: dict[signal.Signals, Callable[[int, FrameType | None], None]] = {
            signal.SIGTSTP: self._on_stop,
            signal.SIGCONT: self._on_continue,
            signal.SIGQUIT: self._on_stop,
            signal.SIGWINCH: _wake,
        }

    def __enter__(self) -> Self:
        atexit.register(self._give_back)  # a signal may come before the `with` block has begun
        for number, handler in self._handlers.items():
            self._handlers_before[number] = signal.signal(number, handler)
        self._take()
        return self

    def __exit__(self, *_: object) -> None:
        """Give the terminal back, once."""
        for number, handler in self._handlers_before.items():
            signal.signal(number, handler)
        if self._handlers_before:
            self._give_back()
        self._handlers_before.clear()
        atexit.unregister(self._give_back)

    @property
    def size(self) -> tuple[int, int]:
        """The columns and rows of the window."""
        return window_size(self._out) or FALLBACK_SIZE

    def _is_ours(self) -> bool:
        """Return whether we may change the terminal; in the background that would stop us."""
        try:
            return os.tcgetpgrp(self.source) == os.getpgrp()
        except OSError:
            return False

    def _take(self) -> None:
        if not self._is_ours():
            return
        with suppress(termios.error):  # a terminal that closes sends SIGCONT, too
            termios.tcsetattr(self.source, termios.TCSANOW, _key_by_key(self._before))
        self._write(self._on)

    def _give_back(self) -> None:
        if not self._is_ours():
            return
        self._write(self._off)
        with suppress(termios.error):  # the terminal may be gone
            termios.tcsetattr(self.source, termios.TCSANOW, self._before)

    def _write(self, text: str) -> None:
        """Write at once, around the buffer: it may be in use when a signal arrives."""
        with suppress(OSError):
            os.write(self._target, text.encode())

    def _on_stop(self, number: int, _frame: FrameType | None) -> None:
        """Handle SIGTSTP and SIGQUIT: give the terminal back, and let the signal do its work."""
        self._give_back()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)  # stops until SIGCONT, if there is a shell to return to
        signal.signal(number, self._on_stop)
        self._return()

    def _on_continue(self, _number: int, _frame: FrameType | None) -> None:
        self._return()

    def _return(self) -> None:
        self._take()
        self._on_return()


def _key_by_key(settings: list[Any]) -> list[Any]:
    """Return the settings of a terminal that passes on each key, and echoes none.

    Ctrl-C no longer discards the keys before it: a key that has been announced would then be missing, and
    the command would wait for another.
    """
    *others, local, ispeed, ospeed, characters = settings
    local = local & ~(termios.ICANON | termios.ECHO) | termios.NOFLSH
    characters = [*characters]
    characters[termios.VMIN], characters[termios.VTIME] = 1, 0
    return [*others, local, ispeed, ospeed, characters]


class Keyboard:
    """Makes lines of single keys, as a `LineSource`; a subclass says what a key does."""

    def __init__(self, keys: KeyReader, out: TextIO, *, full_screen: bool) -> None:
        self._keys = keys
        self._terminal = KeyTerminal(
            keys.terminal, out, full_screen=full_screen, on_return=self._on_return
        )
        self._line: str | None = None
        self.has_ended = False

    def _press(self, key: str) -> None:
        """Do what a key means; the one that completes a line sets it."""
        raise NotImplementedError

    def _on_return(self) -> None:
        """Note that somebody else has used the terminal."""
        raise NotImplementedError

    def refresh(self) -> None:
        """Show what has changed."""
        raise NotImplementedError

    @property
    def sources(self) -> list[int]:
        return [] if self.has_ended else [self._keys.terminal]

    def feed(self) -> None:
        self._keys.feed()
        self.has_ended |= self._keys.has_ended

    def __bool__(self) -> bool:
        """Use the keys up to the end of a line; the others wait for the next question."""
        while self._line is None and self._keys.unread:
            self._press(self._keys.unread.popleft())
        return self._line is not None

    def next_line(self) -> str:
        line, self._line = self._line or "", None
        return line

    def wait(self, seconds: float | None = None) -> None:
        """Wait for keys."""
        self.refresh()
        if self._keys.terminal in self._keys.poller.wait(self.sources, seconds):
            self.feed()

    def read(self) -> str | None:
        while not self and not self.has_ended:
            self.wait()
        return self.next_line() if self else None


def _wake(_number: int, _frame: FrameType | None) -> None:
    """Do nothing: a signal with a handler ends the wait for input."""
