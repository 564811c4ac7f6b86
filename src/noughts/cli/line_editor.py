"""Lines typed in a terminal, edited as they are typed, with those typed before."""

from __future__ import annotations

from typing import Self, TextIO

from noughts.cli.input import MAX_LINE_BYTES, KeyReader
from noughts.cli.settings import load_history, save_history
from noughts.cli.terminal import Keyboard
from noughts.text.columns import display_width

_CONTROLS = {  # keys of the usual names, and of Emacs
    **dict.fromkeys(("\x1b[D", "\x1bOD", "\x02"), "left"),
    **dict.fromkeys(("\x1b[C", "\x1bOC", "\x06"), "right"),
    **dict.fromkeys(("\x1b[A", "\x1bOA", "\x10"), "up"),
    **dict.fromkeys(("\x1b[B", "\x1bOB", "\x0e"), "down"),
    **dict.fromkeys(("\x1b[H", "\x1bOH", "\x1b[1~", "\x01"), "home"),
    **dict.fromkeys(("\x1b[F", "\x1bOF", "\x1b[4~", "\x05"), "end"),
    **dict.fromkeys(("\x7f", "\x08"), "backspace"),
    **dict.fromkeys(("\r", "\n"), "enter"),
    "\x1b[3~": "delete",
    "\x04": "eof",
    "\x0b": "cut after",
    "\x15": "cut before",
    "\x17": "cut word",
}


class LineEditor(Keyboard):
    """Reads lines like a `LineBuffer`, from a terminal that sends single keys."""

    def __init__(self, keys: KeyReader, out: TextIO) -> None:
        super().__init__(keys, out, full_screen=False)
        self._out = out
        self._question = ""
        self._text = ""
        self._at = 0
        self._history = load_history()
        self._recalled = len(self._history)
        self._draft = ""
        """What was being typed before a line was recalled."""
        self._has_new = False
        self._must_draw = False

    def __enter__(self) -> Self:
        self._terminal.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._terminal.__exit__()
        if self._has_new:
            save_history(self._history)

    def redraw(self, question: str) -> None:
        self._question = question.rpartition("\n")[2]
        self._must_draw = False
        if self._text:
            self._draw()

    def refresh(self) -> None:
        if self._must_draw:
            self._must_draw = False
            self._draw()

    def _on_return(self) -> None:
        self._must_draw = True

    def _draw(self) -> None:
        """Write the question and the text behind it, as much of it as fits into the row."""
        columns = self._terminal.size[0]
        question = f"{self._question} "
        while question and display_width(question) > columns - 2:
            question = question[1:]
        room = max(columns - display_width(question) - 1, 1)
        start = 0
        while display_width(self._text[start : self._at]) > room:
            start += 1
        shown = self._text[start:]
        while display_width(shown) > room:
            shown = shown[:-1]
        column = display_width(question + self._text[start : self._at])
        to_cursor = f"\x1b[{column}C" if column else ""
        self._out.write(f"\r{question}{shown}\x1b[K\r{to_cursor}")
        self._out.flush()

    def _press(self, key: str) -> None:
        command = _CONTROLS.get(key)
        if command == "enter":
            self._enter()
            return
        if command == "eof" and not self._text:
            self.has_ended = True
            return
        before = self._text, self._at
        if command:
            self._edit(command)
        elif key.isprintable() and len(self._text) < MAX_LINE_BYTES:
            self._text = self._text[: self._at] + key + self._text[self._at :]
            self._at += len(key)
        if before != (self._text, self._at):
            self._draw()

    def _enter(self) -> None:
        self._out.write("\n")
        self._out.flush()
        is_long = len(self._text.strip()) > 1  # a digit or a letter is as soon typed again
        if is_long and self._history[-1:] != [self._text]:
            self._history.append(self._text)
            self._has_new = True
        self._line = self._text
        self._text, self._at, self._recalled = "", 0, len(self._history)

    def _edit(self, command: str) -> None:
        text, at = self._text, self._at
        match command:
            case "left":
                self._at = max(at - 1, 0)
            case "right":
                self._at = min(at + 1, len(text))
            case "home":
                self._at = 0
            case "end":
                self._at = len(text)
            case "backspace" if at:
                self._text, self._at = text[: at - 1] + text[at:], at - 1
            case "delete" | "eof":
                self._text = text[:at] + text[at + 1 :]
            case "cut after":
                self._text = text[:at]
            case "cut before":
                self._text, self._at = text[at:], 0
            case "cut word":
                start = text[:at].rstrip().rfind(" ") + 1
                self._text, self._at = text[:start] + text[at:], start
            case "up" | "down":
                self._recall(-1 if command == "up" else 1)

    def _recall(self, step: int) -> None:
        if self._recalled == len(self._history):
            self._draft = self._text
        self._recalled = min(max(self._recalled + step, 0), len(self._history))
        self._text = [*self._history, self._draft][self._recalled]
        self._at = len(self._text)
