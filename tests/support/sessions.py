"""Transcripts of the command: what is typed and what is printed, in the files of `tests/cli/sessions`.

A session is a sentence that says what a user sees, and below it, indented, the commands that show it.
They share an empty home folder, printed as `~`, and `$EXAMPLES`, the folder of our examples. `> ` begins
what is typed; it stands where the command reads it, or, if it stands before all output, it is not shown
again: `> 5 / 1` is two lines. `! ` begins a line of standard error; the exit code is 2 if there is one,
and otherwise 0, unless `[exit 1]` says something else. `...` stands for any text, or, in a line of its
own, for any lines; `<id>` is the id of a game, the same one wherever it stands, and `<id2>` another. What
is not a plain `noughts` command is run by the shell.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from operator import eq
from pathlib import Path
from typing import NamedTuple

from support.command import TESTS, environment
from support.forked import noughts, shell

INDENT = "  "
REST = "..."
KINDS = {"id": "[a-z2-7]{8}", "date": r"\d{4}-\d\d-\d\d", "time": r"\d\d:\d\d"}
"""What a placeholder stands for; only an id is the same wherever it stands."""

_PLACEHOLDER = re.compile(rf"<({'|'.join(KINDS)})(\d?)>")
_NEEDS_SHELL = re.compile(r"[|<>;&$`*]|^(?!(?:\w+=\S* )*noughts )")
_ID = re.compile(rf"(?:(?<=noughts resume )|^){KINDS['id']}(?=$|  <date>)")
_SESSION = re.compile(rf"((?:^\S.*\n)+)\n(^{INDENT}\$ .*\n(?:^(?:{INDENT}.*)?\n)*)", re.MULTILINE)
_STEP = re.compile(rf"^{INDENT}\$ (.*)\n((?:(?!{INDENT}\$ ).*\n)*)", re.MULTILINE)
_FOLDERS = "NOUGHTS_STORE", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"


class Step(NamedTuple):
    """A command, and the lines below it, typed and printed."""

    command: str
    lines: list[str]
    gap: int
    """How many empty lines follow, for the reader."""

    @property
    def typed_ahead(self) -> list[str]:
        """What is typed before anything is printed."""
        printed = (number for number, line in enumerate(self.lines) if not line.startswith(">"))
        return self.lines[: next(printed, 0)]


class Session(NamedTuple):
    """A sentence, and the commands that show it."""

    file: Path
    sentence: str
    source: str

    def steps(self) -> Iterator[Step]:
        for command, below in _STEP.findall(self.source):
            lines = [line.removeprefix(INDENT) for line in below.rstrip().splitlines()]
            yield Step(command, lines, below.count("\n") - len(lines))

    def replay(self, home: Path) -> str:
        """Run the commands, and return the source as it is now; what still fits is written as before."""
        ids: dict[str, str] = {}
        lines: list[str] = []
        for step in self.steps():
            printed = _run(step, ids, home)
            if fits := re.fullmatch(_pattern(step.lines, ids), "".join(f"{line}\n" for line in printed)):
                ids |= fits.groupdict()
                now = step.lines
            else:
                now = _elide(step.lines, [_in_words_of(step.lines, line, ids) for line in printed])
            lines += [f"$ {step.command}", *now, *[""] * step.gap]
        return "".join(f"{INDENT}{line}".rstrip() + "\n" for line in lines)


def sessions_of(file: Path) -> list[Session]:
    """Return the sessions of a file; each begins with lines that are not indented."""
    text = file.read_text(encoding="utf-8")
    assert not _SESSION.sub("", text), f"{file}: a sentence, an empty line, then indented commands"
    return [Session(file, " ".join(said.split()), source) for said, source in _SESSION.findall(text)]


def _run(step: Step, ids: dict[str, str], home: Path) -> list[str]:
    """Run a command, and return the lines typed and printed."""
    places = {
        "HOME": str(home),
        "EXAMPLES": str(TESTS.parent / "examples"),
        **dict.fromkeys(_FOLDERS, ""),
    }
    env = environment(TZ="UTC", **places)
    command = _PLACEHOLDER.sub(lambda found: ids.get(found[1] + found[2], found[0]), step.command)
    typed = [line for line in step.lines if line.startswith(">")]
    if _NEEDS_SHELL.search(command):
        ran = shell(f"cd; {command}", env=env)
    else:
        words = shlex.split(command.replace("~", str(home)))
        start = words.index("noughts")
        env |= dict(word.split("=", 1) for word in words[:start])
        keys = "".join(f"{line[2:]}\n" for line in typed).replace(" / ", "\n")
        ran = noughts(*words[start + 1 :], typed=keys, env=env, cwd=home, echo=not step.typed_ahead)
    lines = [*ran.stdout.splitlines(), *(f"! {line}" for line in ran.stderr.splitlines())]
    if not any(line.startswith(">") for line in lines):
        lines = [*typed, *lines]
    if ran.returncode != (2 if ran.stderr else 0):
        lines.append(f"[exit {ran.returncode}]")
    return [line.replace(str(home), "~").rstrip() for line in lines]


def _pattern(lines: list[str], ids: dict[str, str]) -> str:
    """Return the pattern of what fits these lines; it names the ids that are new."""
    new: set[str] = set()

    def pattern_of(placeholder: re.Match[str]) -> str:
        kind, name = placeholder[1], placeholder[1] + placeholder[2]
        if kind != "id" or name in ids:
            return ids.get(name, KINDS[kind])
        if name in new:
            return f"(?P={name})"
        new.add(name)
        return f"(?P<{name}>{KINDS[kind]})"

    patterns = []
    for line in lines:
        words = _PLACEHOLDER.sub(pattern_of, re.escape(line)).replace(re.escape(REST), ".*")
        patterns.append("(?:.*\n)*?" if line == REST else f"{words}\n")
    return "".join(patterns)


def _elide(lines: list[str], now: list[str]) -> list[str]:
    """Leave out of what is printed now what these lines leave out."""
    if REST not in lines:
        return now
    if typed := next((line for line in lines if line.startswith(">") and line in now), None):
        there, here = lines.index(typed), now.index(typed)
        return [*_elide(lines[:there], now[:here]), typed, *_elide(lines[there + 1 :], now[here + 1 :])]
    before, after = lines.index(REST), lines[lines.index(REST) + 1 :]
    kept, rest = now[:before], now[before:]
    following = after[: after.index(REST)] if REST in after else after
    starts = range(max(1, len(rest) - len(following) + 1))
    start = (
        max(starts, key=lambda at: sum(map(eq, following, rest[at:]))) if REST in after else starts[-1]
    )
    return [*kept, REST, *_elide(after, rest[start:])]


def _in_words_of(lines: list[str], text: str, ids: dict[str, str]) -> str:
    """Return the line that fits what was printed, or a new one with placeholders for ids and times."""
    for line in lines:
        if line != REST and (fits := re.fullmatch(_pattern([line], ids), f"{text}\n")):
            ids |= fits.groupdict()
            return line
    text = re.sub(f"{KINDS['date']} {KINDS['time']}", "<date> <time>", text)
    for new in {*_ID.findall(text)} - {*ids.values()}:
        ids[f"id{len(ids) + 1 if ids else ''}"] = new
    for name, known in ids.items():
        text = text.replace(known, f"<{name}>")
    return text
