"""The command with a board in place, in a terminal that shows what a person would see."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Self

from support.command import environment
from support.emulator import Emulator
from support.pseudo_terminal import Session, in_terminal

UP, DOWN, RIGHT, LEFT = "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D"


class LiveBoard(contextlib.AbstractContextManager["LiveBoard"]):
    """A window with the command in it; bots answer at once."""

    def __init__(
        self,
        home: Path,
        *arguments: str,
        size: tuple[int, int] = (80, 24),
        env: Mapping[str, str] = MappingProxyType({}),
        shell: Sequence[str] = (),
    ) -> None:
        self.home = home
        config = home / "config" / "noughts" / "settings.json"
        if not config.exists():
            config.parent.mkdir(parents=True)
            config.write_text(json.dumps({"noughtsSettings": 1, "pauseSeconds": 0}))
        self.screen = Emulator(*size)
        self._fed = 0
        self.session: Session = in_terminal(
            *arguments,
            size=size,
            echo=True,
            shell=shell,
            env=environment(
                **{
                    "PYTHONUNBUFFERED": "",
                    "NOUGHTS_PLAIN": "",
                    "HOME": str(home),
                    "XDG_CONFIG_HOME": str(home / "config"),
                    "XDG_STATE_HOME": str(home / "state"),
                    "NOUGHTS_STORE": f"sqlite:{home}/games",
                    **env,
                }
            ),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.session.__exit__()

    def press(self, *keys: str | bytes) -> None:
        for key in keys:
            self.session.type(key)

    def click(self, column: int, row: int) -> None:
        """Press and release the mouse on a place, counted from 0."""
        self.press(f"\x1b[<0;{column + 1};{row + 1}M", f"\x1b[<0;{column + 1};{row + 1}m")

    def see(self, *texts: str) -> list[str]:
        """Wait until all of this is on the screen at once; return its rows."""
        self._wait(lambda: all(text in self.screen.text for text in texts), f"{texts} to be seen")
        return self.screen.rows

    def see_gone(self, *texts: str) -> None:
        """Wait until none of this is on the screen."""
        gone = f"{texts} to be gone"
        self._wait(lambda: not any(text in self.screen.text for text in texts), gone)

    def see_frame(self, is_so: Callable[[str], bool], what: str, since: int) -> tuple[int, str]:
        """Wait for a frame, from a number on, that may have been drawn over; return its number and it."""
        found: list[tuple[int, str]] = []

        def is_seen() -> bool:
            frames = self.screen.frames
            found[:] = [(at, frames[at]) for at in range(since, len(frames)) if is_so(frames[at])]
            return bool(found)

        self._wait(is_seen, what)
        return found[0]

    def see_cursor(self, place: tuple[int, int]) -> None:
        self._wait(lambda: self.screen.cursor == place, f"the cursor on {place}")

    def see_shell(self) -> None:
        """Wait until the terminal is as it was before the command."""
        self._wait(lambda: not self.screen.is_full_screen, "the shell")

    def _wait(self, is_so: Callable[[], bool], what: str) -> None:
        def is_seen(output: bytes) -> bool:
            self.screen.feed(output[self._fed :])
            self._fed = len(output)
            return is_so()

        found = self.session.wait_until(is_seen, what)
        assert found, f"the command exited, and this was awaited: {what}\n{self.screen.text}"

    def resize(self, columns: int, rows: int) -> None:
        self.screen.resize(columns, rows)
        self.session.resize(columns, rows)

    def end(self) -> int:
        """Wait for the exit code."""
        code = self.session.end()
        self.screen.feed(self.session.output[self._fed :])
        self._fed = len(self.session.output)
        return code
