"""The dataset: every position with all that is known of it, as CSV, as JSON lines or as Parquet.

It has the same columns in all three (docs/dataset.md), and the same bytes each time.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from io import BytesIO, StringIO
from pathlib import Path
from typing import BinaryIO

from noughts.core.errors import NotInstalled, printable
from noughts.files import write_output
from noughts.lab.columns import OF_A_MOVE, OF_A_POSITION, Row, rows
from noughts.lab.errors import BadFormat

FORMATS = "csv", "jsonl", "parquet"

FLAT = (*OF_A_POSITION, *(f"{name}_{cell}" for name in OF_A_MOVE for cell in range(9)))
"""The columns of a spreadsheet, in which a cell cannot hold nine things."""


def write_dataset(file: str | None, form: str | None, out: BinaryIO) -> None:
    """Write the dataset into a file, or out if none is named; nothing is left of one that fails."""
    form = form or ("csv" if file is None else _form_of(file))
    if form == "parquet" and file is None and out.isatty():
        raise BadFormat("Parquet is nothing to read on a terminal: name a file, or send it to one with >")
    table = list(rows())
    content = {"csv": as_csv, "jsonl": as_jsonl, "parquet": as_parquet}[form](table)
    if file is None:
        out.write(content)
        return
    write_output(file, content)
    if Path(file).is_file():  # a pipe has its reader, who may be the one who would read this
        out.write(printable(f"{len(table):,} positions are in {file}.").encode() + b"\n")


def as_csv(table: Iterable[Row]) -> bytes:
    """Write a table with a line of names at its top; where there is nothing to say, nothing stands."""
    written = StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(FLAT)
    for row in table:
        nines = (value for name in OF_A_MOVE for value in row[name])
        writer.writerow(map(_text, (*(row[name] for name in OF_A_POSITION), *nines)))
    return written.getvalue().encode()


def as_jsonl(table: Iterable[Row]) -> bytes:
    """Write an object a line."""
    return "".join(f"{json.dumps(row, separators=(',', ':'))}\n" for row in table).encode()


def as_parquet(table: Iterable[Row]) -> bytes:
    """Write a table with types; pyarrow does that."""
    try:
        import pyarrow as pa  # type: ignore[import-untyped]  # noqa: PLC0415 - who wants this needs it
        from pyarrow import parquet  # noqa: PLC0415 - the same
    except ImportError as error:
        raise NotInstalled(
            "Parquet needs 'pyarrow', which is not installed: pip install pyarrow, or take csv or jsonl"
        ) from error
    types = {name: pa.type_for_alias(kind) for name, kind in OF_A_POSITION.items()}
    for name, kind in OF_A_MOVE.items():
        one = pa.list_(pa.string()) if kind == "list<string>" else pa.type_for_alias(kind)
        types[name] = pa.list_(one)
    written = BytesIO()
    parquet.write_table(pa.Table.from_pylist([*table], pa.schema(types)), written)
    return written.getvalue()


def _form_of(file: str) -> str:
    ending = Path(file).suffix.lower().removeprefix(".")
    if ending not in FORMATS:
        raise BadFormat(
            f"{file!r} ends in none of .csv, .jsonl and .parquet: --format says which is meant"
        )
    return ending


def _text(value: object) -> object:
    """Return what stands for a value in a spreadsheet."""
    match value:
        case bool():
            return "true" if value else "false"
        case list():
            return " ".join(value)
        case _:
            return value
