"""A class name means one thing, and no modules import each other in a circle."""

from __future__ import annotations

import ast
from collections import defaultdict
from graphlib import TopologicalSorter
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src"
MODULES = {
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): ast.parse(
        path.read_text()
    )
    for path in SOURCE.rglob("*.py")
}


def imported(tree: ast.Module) -> set[str]:
    """Return the modules of noughts that a module imports, wherever and for whatever."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            submodules = {f"{node.module}.{alias.name}" for alias in node.names} & MODULES.keys()
            found |= submodules or {node.module}
    return found & MODULES.keys()


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Imports inside functions and for types count too."""
    graph = {module: imported(tree) - {module} for module, tree in MODULES.items()}

    assert [*TopologicalSorter(graph).static_order()]


def test_a_class_name_is_used_once() -> None:
    """Only the schemas of the API may share the name of what they describe."""
    homes = defaultdict(list)
    for module, tree in MODULES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and module != "noughts.web.schemas":
                homes[node.name].append(module)

    assert {name: where for name, where in homes.items() if len(where) > 1} == {}
