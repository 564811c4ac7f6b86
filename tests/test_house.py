"""The rooms of the house, and which may import which."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "noughts"

# A room may import from itself, and from these. Arrows point inward only; the command reaches
# everything, and nothing reaches the command.
MAY_IMPORT: dict[str, set[str]] = {
    "core": set(),
    "analysis": {"core", "text"},
    "text": {"core", "analysis"},
    "bots": {"core", "analysis", "files", "text"},
    "files": {"core"},
    "store": {"core", "files"},
    "service": {"core", "store"},
    "cli": {"core", "analysis", "bots", "service", "store", "text", "files", "__init__"},
    "web": {"core", "analysis", "bots", "errors", "service", "store", "text", "files", "__init__"},
    "lab": {"core", "analysis", "bots", "files", "text"},
    "__init__": set(),
    "errors": {"core", "bots", "files", "lab", "store"},
    "__main__": {"__init__", "cli"},
}

# What is pure knows neither time nor chance nor the world outside.
IMPURE = {
    "datetime",
    "io",
    "logging",
    "os",
    "pathlib",
    "random",
    "secrets",
    "socket",
    "subprocess",
    "sys",
    "time",
}

# Beside the standard library there is one module, and only type checkers know it.
OUTSIDE = sys.stdlib_module_names | {"_typeshed"}

# What an extra brings is imported where it is the engine, and nowhere else.
EXTRAS = {
    "cli/commands/tournament.py": {"numpy"},
    "store/postgres.py": {"psycopg", "psycopg_pool"},
    "store/postgres_schema.py": {"psycopg", "psycopg_pool"},
    "store/salvage.py": {"psycopg"},
}

# And what the server and the lab are built with, anywhere in their own rooms.
EXTRAS_OF_ROOMS = {
    "lab": {"cupy", "gymnasium", "jax", "matplotlib", "numpy", "pettingzoo", "pyarrow", "torch"},
    "web": {"httptools", "msgspec", "uvloop"},
}

LAB = {f"noughts.lab.{path.stem}" for path in (SOURCE / "lab").glob("*.py")}

# The command reaches a shell by a late import, when that is what was asked for; nothing else does.
SHELLS = {
    "cli/commands/dataset.py": {"noughts.lab.dataset"},
    "cli/commands/menace.py": {"noughts.lab.plots"},
    "cli/commands/serve.py": {"noughts.web.serve"},
    "cli/commands/simulate.py": LAB,
    "cli/commands/tournament.py": LAB,
}

# Which engine a store has is known in the store's own room only, and the service knows the contract.
ENGINES = {"noughts.store.memory", "noughts.store.postgres", "noughts.store.sqlite"}

FILES = sorted(SOURCE.rglob("*.py"))


def room(module: str) -> str:
    """Return the room that a module of noughts is in."""
    return (*module.split("."), "__init__")[1]


def imports(path: Path) -> set[str]:
    """Return every module that a file imports, wherever in it; those for types alone too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} has a relative import"
            is_package = node.module == "noughts"
            found |= (
                {
                    f"noughts.{alias.name}"
                    if (SOURCE / alias.name).exists() or (SOURCE / f"{alias.name}.py").exists()
                    else "noughts"
                    for alias in node.names
                }
                if is_package
                else {node.module or ""}
            )
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_file_imports_only_what_its_room_may(path: Path) -> None:
    """From its own room, from those that the table allows, and from the standard library."""
    home = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    name = path.relative_to(SOURCE).as_posix()
    for module in imports(path) - SHELLS.get(name, set()):
        if module.split(".")[0] == "noughts":
            assert room(module) in {home, *MAY_IMPORT[home]}, f"{path.name} must not import {module}"
        else:
            known = OUTSIDE | EXTRAS.get(name, set()) | EXTRAS_OF_ROOMS.get(home, set())
            assert module.split(".")[0] in known, f"{path.name} must not import {module}"


@pytest.mark.parametrize("path", [path for path in FILES if "store" not in path.parts])
def test_nothing_outside_the_store_knows_its_engine(path: Path) -> None:
    """A store is opened by its URL, and used by its contract."""
    assert not imports(path) & ENGINES


def test_the_service_knows_no_more_of_stores_than_the_contract() -> None:
    """Whatever keeps the contract can stand behind it."""
    known = {module for module in imports(SOURCE / "service.py") if room(module) == "store"}

    assert known == {"noughts.store.base", "noughts.store.errors", "noughts.store.records"}


@pytest.mark.parametrize("path", [path for path in FILES if "core" in path.parts or "text" in path.parts])
def test_what_is_pure_stays_pure(path: Path) -> None:
    """Time, chance and the outside come in as arguments."""
    assert not imports(path) & IMPURE


def test_every_room_stands_in_the_table() -> None:
    """A new room gets its rule with its first file."""
    rooms = {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in FILES}

    assert rooms == set(MAY_IMPORT)


def test_the_page_on_architecture_shows_the_table() -> None:
    """Package by package; what is only for starting up is left out."""
    page = (SOURCE.parents[1] / "docs" / "architecture.md").read_text()
    rows = re.findall(r"^\|`(\w+)`\|(.*)\|$", page, re.MULTILINE)

    shown = {package: set(re.findall(r"`(\w+)`", imported)) for package, imported in rows}
    assert shown == {
        package: allowed - {"__init__"}
        for package, allowed in MAY_IMPORT.items()
        if not package.startswith("__")
    }
