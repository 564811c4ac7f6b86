"""Writes the man page from the parser and the help of each command (`make docs`).

An option that several commands have in common is described once, after the commands.
"""

from __future__ import annotations

from argparse import PARSER, SUPPRESS, Action
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path

from noughts.cli.main import COMMANDS, EXTRAS, GROUPS, build_parser
from noughts.cli.options import VARIABLES, CommandHelp, Parser

PAGE = Path(__file__).parents[2] / "docs" / "noughts.1"

COMMON = 3
"""How many commands and tasks must have an option in common."""

EXIT_CODES = {
    "0": "finished, or quit",
    "1": "input, output or the store failed",
    "2": "bad usage",
    "129": "the terminal was closed",
    "130": "Ctrl-C",
    "143": "SIGTERM",
}


def man_page() -> str:
    return "".join(f"{line}\n" for line in _lines())


def parsers_of(command: str) -> list[Parser]:
    """Return the parser of a command, and those of its tasks."""
    (commands,) = build_parser([command]).positionals
    found: list[Parser] = [dict(commands.choices or {})[command]]
    for parser in found:
        for action in parser.positionals:
            if action.nargs == PARSER:
                found += dict(action.choices or {}).values()
    return found


def _lines() -> Iterator[str]:
    parsers = {command: parsers_of(command) for command in COMMANDS}
    help_of: dict[str, CommandHelp] = {
        command: import_module(f"noughts.cli.commands.{command}").HELP for command in COMMANDS
    }
    shared = _common(parser for found in parsers.values() for parser in found)
    yield from ('.TH NOUGHTS 1 "" noughts "User Commands"', ".nh", ".ad l")  # words stay whole
    yield from (".SH NAME", r"noughts \- tic\-tac\-toe with exact rules")
    yield from (".SH SYNOPSIS", r"\fBnoughts\fR [\fB\-\-help\fR] [\fB\-\-version\fR] \fICOMMAND\fR ...")
    yield from (".SH DESCRIPTION", _text(build_parser([]).description or ""))
    for title, commands in GROUPS.items():
        yield f".SH {_text(title.upper())}"
        for command in commands:
            yield f".SS {command}"
            yield _text(help_of[command].description)
            if command in EXTRAS:
                yield _text(f"It needs noughts[{EXTRAS[command]}].")
            for parser in parsers[command]:
                yield from _usage(parser, shared)
            yield from _examples(help_of[command].examples)
    yield ".SH COMMON OPTIONS"
    for names, meaning in shared.items():
        yield from _entry(names, meaning)
    yield ".SH ENVIRONMENT"
    tables = (*VARIABLES.values(), *(one.variables for one in help_of.values()))
    for name, meaning in sorted({key: value for table in tables for key, value in table.items()}.items()):
        yield from _entry(name, meaning)
    yield ".SH EXIT STATUS"
    for code, meaning in EXIT_CODES.items():
        yield from _entry(code, meaning)


def _usage(parser: Parser, shared: Mapping[str, str]) -> Iterator[str]:
    """Return how a command or a task is used, and the options that are its own."""
    if any(action.nargs == PARSER for action in parser.positionals):
        return  # each of its tasks is used on its own
    yield from (".PP", f".B {_text(' '.join(parser.format_usage().split()[1:]))}")
    if len(parser.prog.split()) > 2:
        yield from (".br", _text(parser.description or ""))
    for action in (*parser.positionals, *dict.fromkeys(parser.options.values())):
        if (entry := _described(action)) and shared.get(entry[0]) != entry[1]:
            yield from _entry(*entry)


def _common(parsers: Iterable[Parser]) -> dict[str, str]:
    actions = (action for parser in parsers for action in dict.fromkeys(parser.options.values()))
    counted = Counter(entry for action in actions if (entry := _described(action)))
    return dict(sorted(entry for entry, count in counted.items() if count >= COMMON))


def _described(action: Action) -> tuple[str, str] | None:
    """Return an option or an argument as it is written, and what it means."""
    if action.help is None or action.help == SUPPRESS:
        return None
    value = str(action.metavar or "|".join(action.choices or ()) or action.dest.upper())
    value = "" if action.nargs == 0 else f"[{value}]" if action.nargs == "?" else value
    return f"{', '.join(action.option_strings)} {value}".strip(), action.help


def _entry(word: str, meaning: str) -> Iterator[str]:
    yield from (".TP", f".B {_text(word)}", _text(meaning))


def _examples(examples: Mapping[str, str]) -> Iterator[str]:
    yield from (".PP", ".EX")
    for line, what in examples.items():
        yield from (_text(f"# {what}"), _text(line))
    yield ".EE"


def _text(text: str) -> str:
    """Escape what troff would take for its own: backslashes, hyphens, and signs that start a line."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{escaped}" if escaped[:1] in (".", "'") else escaped


if __name__ == "__main__":
    PAGE.write_text(man_page())
