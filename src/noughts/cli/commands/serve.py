"""`noughts serve`: the web game, for browsers and programs."""

from __future__ import annotations

import os
from argparse import ArgumentTypeError, Namespace
from contextlib import suppress

from noughts.cli import options as shared
from noughts.cli.console import Console
from noughts.cli.recorder import open_saved, store_url
from noughts.core.errors import quoted
from noughts.store.errors import StoreMissing
from noughts.web.serve import serve

HELP = shared.CommandHelp(
    "Serve the web game to browsers and programs until Ctrl-C.",
    {
        "noughts serve": "for this machine: open http://127.0.0.1:8000",
        "noughts serve --host 0.0.0.0 --port 80 --workers 4": "for everybody, with four processes",
    },
    {
        "NOUGHTS_HOST": "the default of --host",
        "NOUGHTS_PORT": "the default of --port",
        "NOUGHTS_WORKERS": "the default of --workers",
        "NOUGHTS_BOTS": "bots to offer, NAME=FILE separated by commas; docs/serving.md has all settings",
    },
)


def add_options(parser: shared.Parser) -> None:
    environment = os.environ.get
    parser.add_argument(
        "--host",
        default=environment("NOUGHTS_HOST") or "127.0.0.1",
        help="the address to listen at (default: 127.0.0.1)",
    )
    parser.add_argument(
        "--port",
        type=_port,
        default=environment("NOUGHTS_PORT") or "8000",
        help="the port; 0 for any that is free (default: 8000)",
    )
    parser.add_argument(
        "--workers",
        type=shared.count,
        default=environment("NOUGHTS_WORKERS") or "1",
        metavar="N",
        help="number of processes (default: 1)",
    )
    parser.add_argument(
        "--bot",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="offer a saved policy as a bot of that name; can be repeated",
    )
    shared.add_store(parser)


def run(options: Namespace, console: Console) -> None:
    with suppress(StoreMissing):
        open_saved(options.store).close()  # sets an old store aside
    url = store_url(options.store, os.environ)
    serve(options.host, options.port, url, options.bot, options.workers, console.out)


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 6 and int(text) < 65536):
        raise ArgumentTypeError(f"{quoted(text)} is not a port: use 0 to 65535")
    return int(text)
