"""`noughts dataset`: every position, with all that is known about it, as a table."""

from __future__ import annotations

from argparse import Namespace

from noughts.cli.console import Console
from noughts.cli.options import Parser
from noughts.lab.dataset import write_dataset


def add_options(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE", nargs="?", help="(default: standard output)")
    parser.add_argument(
        "--format", choices=["csv", "jsonl", "parquet"], help="(default: the file's extension, or csv)"
    )


def run(options: Namespace, console: Console) -> None:
    write_dataset(options.file, options.format, console.binary_out)
