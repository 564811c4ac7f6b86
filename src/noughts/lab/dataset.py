"""The dataset of all positions, as CSV, JSON lines or Parquet.

The columns are the same in all formats (docs/dataset.md), and the output is reproducible.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator
from io import BytesIO, StringIO
from typing import Any, TypeAlias

from noughts.analysis.coach import Advice, advise
from noughts.analysis.solver import Result, prospect
from noughts.core.board import SYMMETRIES, Board, Cell, reachable
from noughts.core.errors import NotInstalled

Row: TypeAlias = dict[str, Any]
_ClassMember: TypeAlias = tuple[Board, dict[Cell, Advice]]
"""The board that represents a symmetry class, and the advice for each move on one of its images."""

POSITION_COLUMNS = {
    "position": "int16",
    "board": "string",
    "x": "int16",
    "o": "int16",
    "tokens": "int8",
    "turn": "string",
    "is_over": "bool",
    "winner": "string",
    "symmetry_class": "int16",
    "canonical": "string",
    "value": "string",
    "score": "int8",
    "distance": "int8",
}
"""One value per position, with its type."""

MOVE_COLUMNS = {
    "move_value": "string",
    "move_score": "int8",
    "move_distance": "int8",
    "move_best": "bool",
    "move_reasons": "list<string>",
}
"""A list of nine values per position, one per cell, with the type of each."""

CSV_COLUMNS = (*POSITION_COLUMNS, *(f"{name}_{cell}" for name in MOVE_COLUMNS for cell in range(9)))

SCORES = {Result.WIN: 1, Result.DRAW: 0, Result.LOSS: -1}


def rows() -> Iterator[Row]:
    """Yield a row for every position of a game that X starts, in the order of their numbers.

    >>> first = next(rows())
    >>> first["board"], first["value"], first["distance"], first["move_best"][:2]
    ('___/___/___', 'draw', 9, [True, True])
    """
    classes: dict[Board, int] = {}
    members: dict[Board, _ClassMember] = {}
    for number, board in enumerate(reachable()):
        if board not in members:
            members |= _members_of_class(board.canonical)
        canonical, advice = members[board]
        worth = prospect(board)
        moves = [advice.get(cell) for cell in range(9)]
        yield {
            "position": number,
            "board": str(board),
            "x": board.x,
            "o": board.o,
            "tokens": board.count,
            "turn": str(board.turn),
            "is_over": board.is_over,
            "winner": str(board.winner) if board.winner else None,
            "symmetry_class": classes.setdefault(canonical, len(classes)),
            "canonical": str(canonical),
            "value": str(worth.result),
            "score": SCORES[worth.result],
            "distance": worth.distance,
            "move_value": [move and str(move.prospect.result) for move in moves],
            "move_score": [move and SCORES[move.prospect.result] for move in moves],
            "move_distance": [move and move.prospect.distance for move in moves],
            "move_best": [move and move.is_best for move in moves],
            "move_reasons": [move and [str(reason.kind) for reason in move.reasons] for move in moves],
        }


def _members_of_class(canonical: Board) -> dict[Board, _ClassMember]:
    """Return the advice for all images of a board: the same, on other cells."""
    advice = advise(canonical)
    return {
        canonical.image(way): (canonical, {way[move.cell]: move for move in advice}) for way in SYMMETRIES
    }


def as_csv(table: Iterable[Row]) -> bytes:
    written = StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for row in table:
        of_moves = (value for name in MOVE_COLUMNS for value in row[name])
        writer.writerow(map(_csv_text, (*(row[name] for name in POSITION_COLUMNS), *of_moves)))
    return written.getvalue().encode()


def as_jsonl(table: Iterable[Row]) -> bytes:
    return "".join(f"{json.dumps(row, separators=(',', ':'))}\n" for row in table).encode()


def as_parquet(table: Iterable[Row]) -> bytes:
    try:
        import pyarrow as pa  # type: ignore[import-untyped]  # noqa: PLC0415 - only Parquet needs it
        from pyarrow import parquet  # noqa: PLC0415 - only Parquet needs it
    except ImportError as error:
        raise NotInstalled(
            "Parquet needs 'pyarrow', which is not installed: pip install pyarrow, or use csv or jsonl"
        ) from error
    types = {name: pa.type_for_alias(kind) for name, kind in POSITION_COLUMNS.items()}
    for name, kind in MOVE_COLUMNS.items():
        entry = pa.list_(pa.string()) if kind == "list<string>" else pa.type_for_alias(kind)
        types[name] = pa.list_(entry)
    written = BytesIO()
    parquet.write_table(pa.Table.from_pylist([*table], pa.schema(types)), written)
    return written.getvalue()


def _csv_text(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    return " ".join(value) if isinstance(value, list) else value


FORMATS = {"csv": as_csv, "jsonl": as_jsonl, "parquet": as_parquet}
"""By name, which is also the extension of a file."""
