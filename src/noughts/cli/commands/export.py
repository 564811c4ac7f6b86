"""`noughts export`: write a saved game as JSON lines."""

from __future__ import annotations

from argparse import Namespace

from noughts.cli import options as shared
from noughts.cli.console import Console
from noughts.cli.recorder import open_saved
from noughts.service import Service
from noughts.store.archive import export_game

HELP = shared.CommandHelp(
    "Write a saved game as JSON lines, with the hashes that prove it; noughts store import reads them.",
    {
        "noughts export k7": "the game whose id begins with k7",
        "noughts export k7 > game.jsonl": "into a file",
    },
)


def add_options(parser: shared.Parser) -> None:
    shared.add_game(parser)
    shared.add_store(parser)
    shared.prints_data(parser)


def run(options: Namespace, console: Console) -> None:
    with open_saved(options.store) as store:
        lines = export_game(store, Service(store).find(options.game))
        console.binary_out.writelines(line.encode() for line in lines)
