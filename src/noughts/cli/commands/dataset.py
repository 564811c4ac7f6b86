"""`noughts dataset`: every position, with all that is known about it, as a table."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import BinaryIO

from noughts.cli.console import Console
from noughts.cli.options import CommandHelp, Parser, file_name, prints_data
from noughts.core.errors import printable
from noughts.files import write_output
from noughts.lab.dataset import FORMATS, rows
from noughts.lab.errors import BadFormat

HELP = CommandHelp(
    "Write all 5,478 positions, with everything that is known about them, as a table.",
    {
        "noughts dataset positions.csv": "into a file, in the format of its extension",
        "noughts dataset --format jsonl > positions.jsonl": "to standard output",
    },
)


def add_options(parser: Parser) -> None:
    parser.add_argument(
        "file",
        type=file_name,
        metavar="FILE",
        nargs="?",
        default="-",
        help="where to write it; - is standard output (default: -)",
    )
    parser.add_argument(
        "--format", choices=FORMATS, help="the form of the table (default: the file's extension, or csv)"
    )
    prints_data(parser)


def run(options: Namespace, console: Console) -> None:
    file = None if options.file == "-" else options.file
    write_dataset(file, options.format, console.binary_out)


def write_dataset(file: str | None, form: str | None, out: BinaryIO) -> None:
    """Write the dataset to a file, whole or not at all; or to `out` if no file is given."""
    if file is None and out.isatty():
        raise BadFormat(
            "the dataset is too long for a terminal: name a file, such as positions.csv, or redirect "
            "the output with >"
        )
    form = form or ("csv" if file is None else _format_of(file))
    table = list(rows())
    content = FORMATS[form](table)
    if file is None:
        out.write(content)
        return
    write_output(file, content)
    if Path(file).is_file():  # not a pipe, whose reader may be reading our output too
        out.write(printable(f"Wrote {len(table):,} positions to {file}.").encode() + b"\n")


def _format_of(file: str) -> str:
    path = Path(file)
    extension = path.suffix.lower().removeprefix(".")
    if extension in FORMATS:
        return extension
    why = "does not end in .csv, .jsonl or .parquet: name it so, or use --format"
    if path.name.lower().removeprefix(".") in FORMATS:
        why = "has no name before its extension: use a name such as positions.csv"
    raise BadFormat(f"{file!r} {why}")
