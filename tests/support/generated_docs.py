"""Writes the parts of the docs that are generated from the code (`make docs`).

Each part is between the markers `<!-- NAME: written by make docs -->` and `<!-- end -->`.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable
from pathlib import Path

from noughts import errors
from noughts.core.player import MAX_NAME_CHARACTERS
from noughts.service import MAX_TAKE_BACK_BYTES
from noughts.store.postgres import DEADLINE_SECONDS
from noughts.store.urls import SERVED
from noughts.web.app import BODY_SECONDS
from noughts.web.metrics import HELP
from noughts.web.problems import CODES
from noughts.web.request import MAX_BODY_BYTES, MAX_QUERY_BYTES
from noughts.web.serve import IDLE_SECONDS, UNACKNOWLEDGED_MS
from noughts.web.settings import Settings, variable
from noughts.web.streams import WRITE_SECONDS
from support import requirements
from support.web.serving_docs import DOCS, served

PAGES = [DOCS / name for name in ("api.md", "reference.md", "serving.md", "specification.md")]

_PART = re.compile(r"(<!-- (\w+): written by make docs -->\n).*?(<!-- end -->\n)", re.DOTALL)

OPTIONS = {"store": "--store", "bots": "--bot"}
"""Settings that can also be given as an option."""

SERVER_OPTIONS = {
    "host": "The address to listen at: `0.0.0.0` for all of IPv4, `::` for IPv6.",
    "port": "The port; 0 for any that is free.",
}
"""Options that are not settings of the application; each has a variable, too."""


def errors_tree() -> str:
    lines = re.findall(r"^([│├└─ ]*)([A-Z]\w+)(?: {2}.*)?$", errors.__doc__ or "", re.MULTILINE)
    tree = "".join(f"{' ' * (len(indent) // 2)}{name}\n" for indent, name in lines)
    return f"```text\n{tree}```\n"


def problems() -> str:
    rows = [(f"`{code}`", str(status), title) for code, (status, title) in CODES.items()]
    return _table(("code", "status", "title"), rows)


def settings() -> str:
    """Return the settings of the server, described by their docstrings."""
    defaults = served("serve")
    rows = [
        (f"`--{name}`, `{variable(name)}`", f"`{getattr(defaults, name)}`", meaning)
        for name, meaning in SERVER_OPTIONS.items()
    ]
    for name, meaning in _docstrings(Settings).items():
        option = f"`{OPTIONS[name]}`, " if name in OPTIONS else ""
        default = getattr(Settings(), name)
        shown = f"`{default}`" if default != "" else ""
        if name == "store":
            shown = f"`noughts/{SERVED}` in the user's data folder"
        rows.append((f"{option}`{variable(name)}`", shown, meaning))
    return _table(("setting", "default", "meaning"), rows)


def limits() -> str:
    """Return the limits of the server that are not settings, and what happens when they are exceeded."""
    rows = [
        ("body", f"{MAX_BODY_BYTES:,} bytes", _refused("tooLarge")),
        ("time to send it", f"{BODY_SECONDS:g} s", _refused("timeout")),
        ("query", f"{MAX_QUERY_BYTES} bytes", _refused("badRequest")),
        ("name", f"{MAX_NAME_CHARACTERS} characters", _refused("nameRefused")),
        ("record of a game, for take-backs", f"{MAX_TAKE_BACK_BYTES // 1024} KiB", _refused("tooLong")),
        ("commit on PostgreSQL", f"{DEADLINE_SECONDS:g} s", _refused("storeUnavailable")),
        ("idle connection", f"{IDLE_SECONDS} s", "closed"),
        ("stream whose reader does not read", f"{WRITE_SECONDS:g} s", "closed"),
        ("data that nobody acknowledges", f"{UNACKNOWLEDGED_MS // 1000} s", "closed"),
    ]
    return _table(("what", "most", "beyond it"), rows)


def metrics() -> str:
    """Return the names of the metrics, by kind."""
    names = {
        kind: [f"`noughts_{name}{end}`" for name, (its_kind, _) in HELP.items() if its_kind == kind]
        for kind, end in (("counter", "_total"), ("gauge", ""), ("histogram", ""))
    }
    return "".join(f"- {kind}s: {', '.join(found)}\n" for kind, found in names.items())


def proofs() -> str:
    return _table(("requirement", "tests, below `tests/`", "on"), requirements.rows())


PARTS = {
    "errors": errors_tree,
    "limits": limits,
    "metrics": metrics,
    "problems": problems,
    "proofs": proofs,
    "settings": settings,
}


def names(page: str) -> list[str]:
    """Return the names of the generated parts of a page."""
    return [name for _, name, _ in _PART.findall(page)]


def updated(page: str) -> str:
    """Return a page with its generated parts up to date."""
    return _PART.sub(lambda part: f"{part[1]}{PARTS[part[2]]()}{part[3]}", page)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"|{'|'.join(line)}|\n" for line in lines)


def _refused(code: str) -> str:
    return f"{CODES[code][0]} `{code}`"


def _docstrings(kind: type) -> dict[str, str]:
    """Return the docstring below each field of a class."""
    body = ast.parse(inspect.getsource(kind)).body[0]
    assert isinstance(body, ast.ClassDef)
    found = {}
    for field, below in zip(body.body, body.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            assert isinstance(below, ast.Expr), f"{field.target.id} has no docstring"
            assert isinstance(below.value, ast.Constant), f"{field.target.id} has no docstring"
            found[field.target.id] = str(below.value.value)
    return found


def _write(page: Path) -> None:
    page.write_text(updated(page.read_text()))


if __name__ == "__main__":
    for each in PAGES:
        _write(each)
