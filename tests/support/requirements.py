"""Where each requirement of `docs/specification.md` is tested, and on which surfaces.

An id is the tag of a scenario, or is in brackets behind the sentence of a session, or in the marker
`requirement` of a test.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pytest_bdd.feature import get_features

from support.command import TESTS
from support.sessions import sessions_of

FEATURES = TESTS / "features"
IDS = [
    f"{letter}{number}"
    for letter, last in (("N", 10), ("E", 7), ("A", 4), ("G", 7), ("K", 4))
    for number in range(1, last + 1)
]

_MARKED = re.compile(r"@pytest\.mark\.requirement\((.+)\)\n(?:.+\n)*?def (test_\w+)")


class Proof(NamedTuple):
    """A test, and what it runs on."""

    place: str
    surfaces: tuple[str, ...]


def proofs() -> dict[str, list[Proof]]:
    """Return the tests of each id, also of one that does not exist."""
    found: dict[str, list[Proof]] = {}
    for ids, proof in (*_scenarios(), *_sessions(), *_tests()):
        for each in ids:
            found.setdefault(each, []).append(proof)
    return found


def rows() -> list[tuple[str, str, str]]:
    """Return the rows of a table: an id, where it is tested, and on what."""
    found = proofs()
    return [
        (
            f"**{each}**",
            ", ".join(dict.fromkeys(f"`{proof.place}`" for proof in found[each])),
            ", ".join(sorted({surface for proof in found[each] for surface in proof.surfaces})),
        )
        for each in IDS
    ]


def _scenarios() -> Iterator[tuple[set[str], Proof]]:
    for feature in get_features([str(FEATURES)]):
        for scenario in feature.scenarios.values():
            runs = any(step.name.startswith('I run "') for step in scenario.steps)
            yield (
                scenario.tags,
                Proof(f"features/{Path(feature.filename).name}", ("pipe" if runs else "library",)),
            )


def _sessions() -> Iterator[tuple[set[str], Proof]]:
    for file in sorted((TESTS / "cli" / "sessions").glob("*.txt")):
        for session in sessions_of(file):
            ids = re.search(r" \(([A-Z]\d+(?: [A-Z]\d+)*)\)$", session.sentence)
            in_place = file.name == "documents.txt" and "--plain" not in session.source
            if ids:
                surfaces = ("pipe", "terminal") if in_place else ("pipe",)
                yield {*ids[1].split()}, Proof(f"cli/sessions/{file.name}", surfaces)


def _tests() -> Iterator[tuple[set[str], Proof]]:
    for file in sorted(TESTS.rglob("test_*.py")):
        surface = {"test_live_board.py": "terminal", "test_document_examples.py": "example"}
        for ids, name in _MARKED.findall(file.read_text(encoding="utf-8")):
            place = f"{file.relative_to(TESTS)}::{name}"
            yield {*re.findall(r"\w+", ids)}, Proof(place, (surface.get(file.name, "library"),))
