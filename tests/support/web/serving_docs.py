"""Where the pages on serving are, and what their command lines and settings must be."""

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
