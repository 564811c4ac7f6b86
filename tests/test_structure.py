"""Which module may import which, and that class names are unique."""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "noughts"

# A package may import from itself, and from these.
MAY_IMPORT: dict[str, set[str]] = {
    "core": set(),
    "analysis": {"core", "text"},
    "text": {"core", "analysis"},
    "bots": {"core", "analysis", "files"},
    "files": {"core", "system"},
    "system": set(),
    "store": {"core", "system"},
    "service": {"core", "store"},
    "cli": {"core", "analysis", "bots", "service", "store", "text", "files", "system", "__init__"},
    "web": {"core", "analysis", "bots", "errors", "service", "store", "text", "__init__"},
    "lab": {"core", "analysis", "bots", "files", "text"},
    "__init__": set(),
    "errors": {"core", "bots", "files", "lab", "store"},
    "__main__": {"__init__", "cli"},
}

# The dependencies of an extra, by the package or file that may import them.
EXTRAS = {
    "cli/commands/tournament.py": {"numpy"},
    "lab": {"cupy", "gymnasium", "jax", "matplotlib", "numpy", "pettingzoo", "pyarrow", "torch"},
    **{f"store/{file.name}": {"psycopg"} for file in (SOURCE / "store").glob("postgres*.py")},
    "web": {"msgspec", "segno", "uvicorn"},
}

# A command imports the server or the lab only when it runs.
LAB = {f"noughts.lab.{path.stem}" for path in (SOURCE / "lab").glob("*.py")}
LATE_IMPORTS = {
    "cli/commands/dataset.py": {"noughts.lab.dataset", "noughts.lab.errors"},
    "cli/commands/menace.py": {"noughts.lab.plots"},
    "cli/commands/serve.py": {"noughts.web.serve", "noughts.web.settings"},
    "cli/commands/simulate.py": LAB,
    "cli/commands/tournament.py": LAB,
}

OUTSIDE = sys.stdlib_module_names | {"_typeshed"}  # only type checkers know the last one
ENGINES = {f"noughts.store.{name}" for name in ("memory", "postgres", "sqlite", "sqlite_file")}
IMPURE = {"datetime", "random", "secrets", "time"} | {"io", "logging", "os", "pathlib", "sys"}
IMPURE |= {"socket", "subprocess"}
SERVER_LIBRARIES = {"httptools", "uvloop", "uvicorn", "starlette", "granian", "hypercorn", "socket"}


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


FILES = sorted(SOURCE.rglob("*.py"))
MODULES = {module_name(path) for path in FILES}


@cache
def tree(module: str) -> ast.Module:
    path = SOURCE.parent.joinpath(*module.split("."))
    return ast.parse((path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text())


@cache
def imported(module: str) -> set[str]:
    """Return the modules that a module imports, anywhere in it, including type-checking imports."""
    return imported_by(tree(module))


def imported_by(parsed: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(parsed):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "an import is relative"
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= names & MODULES
            if not names <= MODULES:
                found.add(node.module or "")
    return found


def package(module: str) -> str:
    return (*module.split("."), "__init__")[1]


def reached(module: str) -> set[str]:
    """Return a module of noughts and everything it imports, directly or not."""
    found, waiting = {module}, [module]
    while waiting:
        new = (imported(waiting.pop()) & MODULES) - found
        found |= new
        waiting += new
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_file_imports_only_what_its_package_may(path: Path) -> None:
    file, module = path.relative_to(SOURCE).as_posix(), module_name(path)
    home = package(module)
    outside = OUTSIDE | EXTRAS.get(file, set()) | EXTRAS.get(home, set())
    for name in imported(module) - LATE_IMPORTS.get(file, set()):
        top = name.partition(".")[0]
        is_allowed = package(name) in {home, *MAY_IMPORT[home]} if top == "noughts" else top in outside
        assert is_allowed, f"{file} must not import {name}"


def test_the_table_has_every_package_and_nothing_that_is_not_imported() -> None:
    used: dict[str, set[str]] = defaultdict(set)
    for module in MODULES:
        used[package(module)] |= {package(name) for name in imported(module) & MODULES}

    assert used.keys() == MAY_IMPORT.keys()
    assert {home: names - used[home] for home, names in MAY_IMPORT.items() if names - used[home]} == {}


def test_the_page_on_architecture_shows_the_table() -> None:
    page = (SOURCE.parents[1] / "docs" / "architecture.md").read_text()
    rows = re.findall(r"^\|`(\w+)`\|(.*)\|$", page, re.MULTILINE)

    assert {name: set(re.findall(r"`(\w+)`", allowed)) for name, allowed in rows} == {
        name: allowed - {"__init__"} for name, allowed in MAY_IMPORT.items() if not name.startswith("__")
    }


def test_no_modules_import_each_other_in_a_circle() -> None:
    """A package imports what its stub says: a module that takes a name from there depends on it."""
    graph = {module: (imported(module) & MODULES) - {module} for module in MODULES}
    for path in SOURCE.rglob("*.pyi"):
        graph[module_name(path)] |= imported_by(ast.parse(path.read_text()))

    assert [*TopologicalSorter(graph).static_order()]


def test_a_class_name_is_used_once() -> None:
    homes = defaultdict(list)
    for module in MODULES - {"noughts.web.schemas"}:
        for node in ast.walk(tree(module)):
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(module)

    assert {name: where for name, where in homes.items() if len(where) > 1} == {}


@pytest.mark.parametrize("module", sorted(MODULES))
def test_core_and_text_are_pure_and_engines_are_hidden(module: str) -> None:
    if package(module) in {"core", "text"}:
        assert not imported(module) & IMPURE
    if package(module) != "store":
        assert not imported(module) & ENGINES


def test_the_service_knows_only_the_contract_of_stores() -> None:
    known = {name for name in imported("noughts.service") if package(name) == "store"}

    assert known == {"noughts.store.base", "noughts.store.errors", "noughts.store.rows"}


def test_the_web_application_knows_no_server() -> None:
    modules = {name for name in reached("noughts.web.app") if name.startswith("noughts.web")}
    assert not modules & {f"noughts.web.{name}" for name in ("asgi", "http", "serve", "server")}
    libraries = {name.partition(".")[0] for module in modules for name in imported(module)}
    assert not libraries & SERVER_LIBRARIES
    assert "msgspec" in libraries
