"""Reads the pages on serving: tables, command lines and settings."""

from __future__ import annotations

import re
from argparse import Namespace
from pathlib import Path

import msgspec

import noughts.web
from noughts.cli.main import build_parser
from noughts.web.settings import Settings, variable

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
EXAMPLES = ROOT / "examples" / "serving"


def rows(page: str, heading: str) -> list[list[str]]:
    """Return the cells of the first table under a heading, without the table's head."""
    _, there, rest = page.partition(f"\n{heading}\n")
    assert there, f"no heading {heading}"
    table = re.search(
        r"(?:^\|.*\n)+", re.split(r"^#", rest, maxsplit=1, flags=re.MULTILINE)[0], re.MULTILINE
    )
    assert table, f"no table under {heading}"
    lines = table.group().splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def code(cell: str) -> list[str]:
    """Return the code spans of a table cell."""
    return re.findall(r"`([^`]+)`", cell)


def served(*arguments: str) -> Namespace:
    """Return the options of a command line of `noughts serve`."""
    options = build_parser(arguments).parse_args(arguments)
    assert options.command == "serve"
    return options


def known_names() -> set[str]:
    """Return the environment variables that a server reads."""
    found = {variable(field.name) for field in msgspec.structs.fields(Settings)}
    package = Path(noughts.web.__file__).parents[1]
    for file in (*package.glob("web/*.py"), *package.glob("cli/**/*.py")):
        found.update(re.findall(r'"(NOUGHTS_[A-Z_]+)"', file.read_text()))
    return found - {"NOUGHTS_PLAIN"}  # it is about a game in the terminal
