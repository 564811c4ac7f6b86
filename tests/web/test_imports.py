"""How the modules of the web game depend on each other."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import noughts.web

FOLDER = Path(noughts.web.__file__).parent
SERVERS = {"asgi", "http", "serve", "server"}


def imported(module: Path) -> set[str]:
    """Return the full names of all that a module imports, also for types alone."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.update({node.module, *(f"{node.module}.{alias.name}" for alias in node.names)})
    return found


IMPORTS = {file.stem: imported(file) for file in FOLDER.glob("*.py")}
WEB_IMPORTS = {
    module: {name.split(".")[2] for name in names if name.startswith("noughts.web.")} & IMPORTS.keys()
    for module, names in IMPORTS.items()
}


def reached(module: str) -> set[str]:
    """Return a module and all that it imports, directly or not."""
    found, waiting = {module}, [module]
    while waiting:
        new = WEB_IMPORTS[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert [*TopologicalSorter(WEB_IMPORTS).static_order()]


def test_the_application_knows_no_server() -> None:
    """What it is made of imports only msgspec from outside."""
    modules = reached("app")
    assert not modules & SERVERS
    names = {name.partition(".")[0] for module in modules for name in IMPORTS[module]}
    assert not names & {"httptools", "uvloop", "uvicorn", "starlette", "granian", "hypercorn", "socket"}
    assert "msgspec" in names
