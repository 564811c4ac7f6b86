"""A MENACE as a JSON file: its rules, its beads, and how many games it has learned from."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from noughts.analysis.solver import Result
from noughts.bots.errors import NotAMachine
from noughts.bots.menace.boxes import boxes
from noughts.bots.menace.machine import MAX_BEADS, BeadRules, Menace
from noughts.core.errors import quoted
from noughts.core.notation import format_cell
from noughts.files import JsonFormat, JsonObject, replace_file

SCHEMA = 1
MAX_GAMES = 10**18

_FORMAT = JsonFormat("menace", SCHEMA, ("rules", "results", "boxes"), NotAMachine)


def load_machine(path: Path | str) -> Menace:
    """Read a machine from its file; anything else is refused."""
    return _FORMAT.load(path, _machine)


def save_machine(machine: Menace, path: Path | str) -> None:
    """Write a machine to its file and sync it to the disk; a missing folder is created."""
    replace_file(path, json.dumps(_to_dict(machine), indent=1) + "\n", in_new_folder=True)


def _to_dict(machine: Menace) -> dict[str, object]:
    return {
        "menace": SCHEMA,
        "rules": machine.rules.__dict__,
        "results": {str(result): games for result, games in machine.results.items()},
        "boxes": {
            str(box.board): dict(zip(map(format_cell, box.cells), beads, strict=True))
            for box, beads in zip(boxes(), machine.boxes, strict=True)
        },
    }


def _machine(written: JsonObject) -> Menace:
    rules = _part(written, "rules", BeadRules.__match_args__)
    beads, changes = rules["beads"], (rules["win"], rules["draw"], rules["loss"])
    if not isinstance(beads, list) or not all(type(number) is int for number in (*beads, *changes)):
        raise NotAMachine("its rules are not numbers")
    machine = Menace(BeadRules(**rules))
    results = _part(written, "results", map(str, Result))
    machine.results = {result: _count(results[str(result)], "results", MAX_GAMES) for result in Result}
    contents = _part(written, "boxes", (str(box.board) for box in boxes()))
    for box, counts in zip(boxes(), machine.boxes, strict=True):
        label, kinds = str(box.board), [format_cell(cell) for cell in box.cells]
        found = _part(contents, label, kinds)
        counts[:] = (_count(found[kind], label) for kind in kinds)
    return machine


def _part(written: dict[str, object], name: str, expected: Iterable[str]) -> dict[str, Any]:
    """Return a part of an object if it has exactly the expected names."""
    part = written.get(name)
    if not isinstance(part, dict) or {*part} != {*expected}:
        raise NotAMachine(f"{name} are not those of a menace")
    return part


def _count(number: object, where: str, most: int = MAX_BEADS) -> int:
    if type(number) is not int or not 0 <= number <= most:
        raise NotAMachine(f"{where} has {quoted(number)}, which is not a number from 0 to {most:,}")
    return number
