"""A MENACE in a file: its rules, its beads, and the games it has learned from, as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from noughts.analysis.solver import Result
from noughts.bots.errors import NotAMachine
from noughts.bots.menace.boxes import Box, boxes
from noughts.bots.menace.machine import MAX_BEADS, BeadRules, Menace
from noughts.core.errors import quoted
from noughts.core.notation import format_cell
from noughts.files import JsonFormat, JsonObject, replace_file

SCHEMA = 1
MAX_GAMES = 10**18
"""More than anybody will play."""

_FORMAT = JsonFormat("menace", SCHEMA, ("rules", "results", "boxes"), NotAMachine)
_NUMBERS = "win", "draw", "loss"


def load_machine(path: Path | str) -> Menace:
    """Read a machine from its file; whatever is not exactly a machine is refused."""
    return _FORMAT.load(path, _machine)


def save_machine(machine: Menace, path: Path | str) -> None:
    """Write a machine into its file, and make the folder that it is kept in; then it is on the disk."""
    replace_file(path, json.dumps(_written(machine), indent=1) + "\n", in_new_folder=True)


def _written(machine: Menace) -> dict[str, object]:
    rules = machine.rules
    return {
        "menace": SCHEMA,
        "rules": {name: getattr(rules, name) for name in rules.__match_args__},
        "results": {str(result): games for result, games in machine.results.items()},
        "boxes": {
            str(box.board): dict(zip(map(format_cell, box.cells), beads, strict=True))
            for box, beads in zip(boxes(), machine.boxes, strict=True)
        },
    }


def _machine(written: JsonObject) -> Menace:
    rules = _part(written, "rules", BeadRules.__match_args__)
    if not isinstance(rules["beads"], list) or not all(
        type(number) is int for number in (*rules["beads"], *(rules[name] for name in _NUMBERS))
    ):
        raise NotAMachine("its rules are no numbers")
    machine = Menace(BeadRules(**{**rules, "beads": tuple(rules["beads"])}))
    results = _part(written, "results", [str(result) for result in Result])
    machine.results = {result: _count(results[str(result)], "results", MAX_GAMES) for result in Result}
    contents = _part(written, "boxes", [str(box.board) for box in boxes()])
    machine.boxes = [_beads(contents, box) for box in boxes()]
    return machine


def _beads(contents: dict[str, object], box: Box) -> list[int]:
    label = str(box.board)
    kinds = [format_cell(cell) for cell in box.cells]
    beads = _part(contents, label, kinds)
    return [_count(beads[kind], label) for kind in kinds]


def _part(written: dict[str, object], name: str, expected: Iterable[str]) -> dict[str, Any]:
    """Return a part of what is written, if it has exactly the names that are expected."""
    part = written.get(name)
    if not isinstance(part, dict) or {*part} != {*expected}:
        raise NotAMachine(f"{name} are not those of a menace")
    return part


def _count(number: object, where: str, most: int = MAX_BEADS) -> int:
    if type(number) is not int or not 0 <= number <= most:
        raise NotAMachine(f"{where} has {quoted(number)} where a number from 0 to {most:,} belongs")
    return number
