"""A MENACE in a file: its rules, its beads, and the games it has learned from, as JSON.

The file is replaced as a whole, so that whatever happens it holds the machine of before or of after.
"""

from __future__ import annotations

import json
import os
from errno import EINVAL
from pathlib import Path
from stat import S_IMODE

from noughts.core.codec import read_json
from noughts.core.errors import (
    NotAMachine,
    PolicyError,
    RecordError,
    StoreUnavailable,
    quoted,
)
from noughts.core.notation import format_cell
from noughts.players.matchboxes import shelf
from noughts.players.menace import MOST_BEADS, BeadRules, Menace
from noughts.players.solver import Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from noughts.players.matchboxes import Box

SCHEMA = 1
LARGEST = 1_000_000
"""In bytes: a machine takes about a fiftieth of it."""

MOST_GAMES = 10**18
"""More than anybody will play."""

_NUMBERS = "win", "draw", "loss"


def load_machine(path: Path | str) -> Menace:
    """Read a machine from its file; whatever is not exactly a machine is refused."""
    path = Path(path)
    try:
        _check_plain(path)
        with path.open("rb") as file:
            return _machine(file.read(LARGEST + 1))
    except (OSError, ValueError) as error:
        raise NotAMachine(f"{path} cannot be read: {_why(error)}") from error
    except (NotAMachine, PolicyError, RecordError) as error:
        raise NotAMachine(f"{path} holds no menace: {error}") from error


def save_machine(machine: Menace, path: Path | str) -> None:
    """Write a machine into its file; on return it is on the disk."""
    path = Path(path)
    written = json.dumps(_written(machine), indent=1) + "\n"
    try:
        path = path.resolve()  # what a link points to is replaced, and not the link
        _check_plain(path)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        beside = path.with_name(f".menace-{os.urandom(8).hex()}")
        try:
            with beside.open("x", encoding="utf-8") as file:
                if path.exists():
                    os.fchmod(file.fileno(), S_IMODE(path.stat().st_mode))
                file.write(written)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(path)
            _sync(path.parent)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
    except (
        OSError,
        RuntimeError,
        ValueError,
    ) as error:  # a link to itself is a RuntimeError, for a while
        raise StoreUnavailable(f"{path} cannot be written: {_why(error)}") from error


def _check_plain(path: Path) -> None:
    """Refuse a pipe or a device: reading it may never end, and replacing it is not meant."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise OSError(EINVAL, "it is no file")


def _why(error: Exception) -> str:
    if isinstance(error, OSError):
        return str(error.strerror)
    return "no file is called so" if isinstance(error, ValueError) else "it is a link to itself"


def _sync(folder: Path) -> None:
    """See to it that the name of a file in it is on the disk."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _written(machine: Menace) -> dict[str, object]:
    rules = machine.rules
    return {
        "menace": SCHEMA,
        "rules": {name: getattr(rules, name) for name in rules.__match_args__},
        "results": {str(result): games for result, games in machine.results.items()},
        "boxes": {
            str(box.board): dict(zip(map(format_cell, box.cells), beads, strict=True))
            for box, beads in zip(shelf(), machine.boxes, strict=True)
        },
    }


def _machine(text: bytes) -> Menace:
    if len(text) > LARGEST:
        raise NotAMachine("it is too long")
    try:
        written = read_json(text.decode())
    except UnicodeDecodeError:
        raise NotAMachine("it is no text") from None
    schema = written.get("menace") if isinstance(written, dict) else None
    if not isinstance(written, dict) or type(schema) is not int or schema != SCHEMA:
        raise NotAMachine(f"it does not say that it is a menace of schema {SCHEMA}")
    if {*written} - {"menace", "rules", "results", "boxes"}:
        raise NotAMachine("it has parts that no menace has")
    rules = _part(written, "rules", BeadRules.__match_args__)
    if not isinstance(rules["beads"], list) or not all(
        type(number) is int for number in (*rules["beads"], *(rules[name] for name in _NUMBERS))
    ):
        raise NotAMachine("its rules are no numbers")
    machine = Menace(BeadRules(**{**rules, "beads": tuple(rules["beads"])}))
    results = _part(written, "results", [str(result) for result in Result])
    machine.results = {result: _count(results[str(result)], "results", MOST_GAMES) for result in Result}
    boxes = _part(written, "boxes", [str(box.board) for box in shelf()])
    machine.boxes = [_beads(boxes, box) for box in shelf()]
    return machine


def _beads(boxes: dict[str, object], box: Box) -> list[int]:
    label = str(box.board)
    kinds = [format_cell(cell) for cell in box.cells]
    beads = _part(boxes, label, kinds)
    return [_count(beads[kind], label) for kind in kinds]


def _part(written: dict[str, object], name: str, expected: Iterable[str]) -> dict[str, Any]:
    """Return a part of what is written, if it has exactly the names that are expected."""
    part = written.get(name)
    if not isinstance(part, dict) or {*part} != {*expected}:
        raise NotAMachine(f"{name} are not those of a menace")
    return part


def _count(number: object, where: str, most: int = MOST_BEADS) -> int:
    if type(number) is not int or not 0 <= number <= most:
        raise NotAMachine(f"{where} has {quoted(number)} where a number from 0 to {most:,} belongs")
    return number
