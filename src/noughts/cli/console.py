"""What a command works with: output, errors, input, signals and random numbers."""

from __future__ import annotations

import codecs
import os
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from random import Random
from typing import TYPE_CHECKING, BinaryIO, TextIO

from noughts.cli.exit import INTERRUPTED
from noughts.cli.input import KeyReader, LineBuffer, LineSource
from noughts.cli.prompt import Prompt
from noughts.cli.screen import Display, Screen, is_cramped
from noughts.cli.signals import Poller
from noughts.core.errors import printable
from noughts.text.wordings import WORDINGS

if TYPE_CHECKING:  # only a live board needs it
    from noughts.cli.settings import GameSettings

_NO_GAME = Namespace(wording="kata", usual_wording="kata", color="auto", describe=False)
_PLAIN_SIGNS = {"·": "-", "…": "..."}


def _replace_sign(error: UnicodeError) -> tuple[str | bytes, int]:
    """Write our own signs in ASCII where the encoding lacks them, and escape those of names."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    error.end = error.start + 1
    plain = _PLAIN_SIGNS.get(error.object[error.start])
    return (plain, error.end) if plain else codecs.backslashreplace_errors(error)


class Console:
    """The terminal that a command runs in; each of its streams may be missing."""

    def __init__(self) -> None:
        self.err: TextIO | None = sys.stderr

    @cached_property
    def out(self) -> TextIO:
        if not sys.stdout:
            return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - until the process ends
        codecs.register_error("noughts", _replace_sign)
        sys.stdout.reconfigure(errors="noughts")  # type: ignore[union-attr]  # it is a file
        return sys.stdout

    @property
    def binary_out(self) -> BinaryIO:
        """Standard output for data, which is UTF-8 whatever the locale is."""
        return sys.stdout.buffer if sys.stdout else open(os.devnull, "wb")  # noqa: PTH123 - as above

    @cached_property
    def poller(self) -> Poller:
        return Poller()

    def rng(self, seed: str | None = None) -> Random:
        return Random(None if seed is None else os.fsencode(seed))  # noqa: S311 - games, not secrets

    def wants_colour(self, options: Namespace) -> bool:
        """Use colour if the option or the environment says so; otherwise on a terminal that has it."""
        if options.color != "auto":
            return bool(options.color == "always")
        if os.environ.get("NO_COLOR"):
            return False
        has_colour = self.out.isatty() and not is_dumb()
        return has_colour or bool(os.environ.get("FORCE_COLOR"))

    def is_terminal(self) -> bool:
        """Return whether a person sits there: both the keyboard and the screen are a terminal."""
        return self.out.isatty() and bool(sys.stdin) and sys.stdin.isatty()

    def is_live(self, options: Namespace) -> bool:
        """Return whether to redraw the board in place: the terminal can, and nobody wants lines."""
        wants_lines = (
            options.plain
            or os.environ.get("NOUGHTS_PLAIN")
            or options.describe
            or getattr(options, "events", False)
        )
        return self.is_terminal() and not is_dumb() and not wants_lines

    def screen(self, options: Namespace) -> Screen:
        """Return a screen that prints lines."""
        return Screen(self.out, self._display(options))

    @contextmanager
    def game_screen(self, options: Namespace) -> Iterator[tuple[Screen, LineSource]]:
        """Return the screen of a game, and the keyboard; the terminal is left as it was."""
        if not self.is_live(options):
            with self.line_screen(options) as lines:
                yield lines
            return
        from noughts.cli.live_screen import LiveScreen  # noqa: PLC0415 - not for lines

        live = LiveScreen(self.out, self._display(options), self._keys, self.settings)
        try:  # not `with`: a signal may come while it is being opened
            live.open()
            yield live, live.keyboard
        except KeyboardInterrupt:
            live.give_back()
            self.out.write(f"{live.wording.say('game.goodbye')}\n")
            raise SystemExit(INTERRUPTED) from None
        finally:
            live.give_back()

    @contextmanager
    def line_screen(self, options: Namespace) -> Iterator[tuple[Screen, LineSource]]:
        """Return a screen that prints lines, and the keyboard."""
        screen = self.screen(options)
        if screen.interactive and not is_dumb() and _has_echo(sys.stdin.fileno()):
            from noughts.cli.line_editor import LineEditor  # noqa: PLC0415 - not for pipes

            with LineEditor(self._keys, self.out) as editor:
                yield screen, editor
        else:
            yield screen, self._lines

    @contextmanager
    def prompt(self) -> Iterator[Prompt]:
        """Return what asks questions in lines outside a game."""
        with self.line_screen(_NO_GAME) as (screen, typed), Prompt(screen, typed) as prompt:
            yield prompt

    @cached_property
    def _keys(self) -> KeyReader:
        """The keys of the terminal: those typed ahead of one screen are for the next."""
        return KeyReader(sys.stdin.fileno(), self.poller)

    @cached_property
    def _lines(self) -> LineBuffer:
        return LineBuffer(sys.stdin.fileno() if sys.stdin else None, self.poller.wait)

    @cached_property
    def settings(self) -> GameSettings:
        """What the player has set; a broken file is reported, and changes nothing."""
        from noughts.cli.settings import BadSettings, GameSettings, load_settings  # noqa: PLC0415 - as above

        try:
            return load_settings()
        except BadSettings as error:
            if self.err:
                self.err.write(f"noughts: {printable(str(error))}; the defaults are used\n")
            return GameSettings()

    def _display(self, options: Namespace) -> Display:
        return Display(
            wording=WORDINGS[options.wording or options.usual_wording],
            colour=self.wants_colour(options),
            spoken=options.describe,
            cramped=lambda: is_cramped(self.out),
            interactive=self.is_terminal(),
            events=getattr(options, "events", False),
            sleep=self.poller.sleep,
        )


def _has_echo(terminal: int) -> bool:
    """Return whether the terminal shows what is typed; if not, something around us edits the lines."""
    from termios import ECHO, error, tcgetattr  # noqa: PLC0415 - not for pipes

    try:
        return bool(tcgetattr(terminal)[3] & ECHO)
    except error:
        return False


def is_dumb() -> bool:
    """Return whether the terminal can only print."""
    return os.environ.get("TERM", "dumb") == "dumb"
