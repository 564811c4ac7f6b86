"""`noughts serve`: the web game, for browsers and programs."""

from __future__ import annotations

import os
from argparse import ArgumentTypeError, Namespace

from noughts.cli import options as shared
from noughts.cli.console import Console
from noughts.cli.recorder import store_url
from noughts.core.errors import quoted
from noughts.store.urls import SERVED
from noughts.web.serve import serve
from noughts.web.settings import GONE

HELP = shared.CommandHelp(
    "Serve the web game to browsers and programs until Ctrl-C. Put a proxy before an open port.",
    {
        "noughts serve": "for this machine: open http://127.0.0.1:8000",
        "noughts serve --host 0.0.0.0 --port 8080": "for everybody who can reach this machine",
    },
    {
        "NOUGHTS_HOST": "the default of --host",
        "NOUGHTS_PORT": "the default of --port",
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
        "--bot",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="offer a saved policy as a bot of that name; can be repeated",
    )
    shared.add_store(parser, SERVED)
    parser.gone["--workers"] = GONE["WORKERS"]


def run(options: Namespace, console: Console) -> None:
    url = store_url(options.store, os.environ, SERVED)
    serve(options.host, options.port, url, options.bot, console.out, console.err)


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 6 and int(text) < 65536):
        raise ArgumentTypeError(f"{quoted(text)} is not a port: use 0 to 65535")
    return int(text)
