"""`noughts store`: verify, back up, restore, repair, import and export the store of games."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shlex import quote
from typing import BinaryIO, TextIO

from noughts.cli import options as shared
from noughts.cli.console import Console
from noughts.cli.layout import say
from noughts.cli.progress import DELAY_SECONDS, ProgressBar
from noughts.cli.recorder import open_saved, store_url
from noughts.core.errors import NoughtsError, RecordError, printable
from noughts.store.archive import export_all, import_lines
from noughts.store.backups import backup, repair, restore, survey
from noughts.store.base import Progress
from noughts.store.errors import CorruptStore
from noughts.store.files import free_name
from noughts.store.urls import sqlite_path
from noughts.store.verify import VerifyReport, examine

HELP = shared.CommandHelp(
    "Look after the store of games: verify, back up, restore, repair, export or import it.",
    {
        "noughts store verify": "look for damage",
        "noughts store backup games-copy.sqlite": "copy all games, also while others play",
    },
    shared.VARIABLES["--store"],
)


def add_options(parser: shared.Parser) -> None:
    tasks = parser.add_subparsers(title="tasks", metavar="TASK", dest="task", required=True)
    for task, (help_, _) in _TASKS.items():
        one = shared.add_task(tasks, task, help_)
        if task in _FILES:
            one.add_argument("file", type=shared.file_name, metavar="FILE", help=_FILES[task])
        if task == "repair":
            one.add_argument(
                "file",
                type=shared.file_name,
                metavar="FILE",
                nargs="?",
                help="the new file (default: games-repaired.sqlite for games.sqlite)",
            )
        if task == "export":  # which writes JSON anyway
            shared.prints_data(one)
        else:
            shared.add_json(one)
        shared.add_store(one)


def run(options: Namespace, console: Console) -> None:
    _, task = _TASKS[options.task]
    task(options, console)


def _export(options: Namespace, console: Console) -> None:
    # The lines are progress enough for somebody who reads them.
    err = None if console.binary_out.isatty() else console.err
    with open_saved(options.store) as store, _progress(err) as progress:
        console.binary_out.writelines(line.encode() for line in export_all(store, progress))


def _verify(options: Namespace, console: Console) -> None:
    out = console.out
    with _progress(console.err) as progress:
        games, events, faults = _examine(options, progress)
    with suppress(BrokenPipeError):  # the exit code reports damage even if nobody reads this
        if options.json:
            _write_json(out, games=games, events=events, faults=faults)
        else:
            for fault in faults:
                say(printable(fault), out)
            _report(games, events, "the rest is sound" if faults else "no faults found", out)
        out.flush()
    if faults:
        raise CorruptStore(
            f"the store is damaged: {_count(len(faults), 'fault')} "
            "(noughts store repair copies what is sound into a new store)"
        )


def _examine(options: Namespace, progress: Progress) -> VerifyReport:
    """Examine a store; if it is too damaged to be opened, count what can still be read."""
    try:
        with open_saved(options.store) as store:
            return examine(store, progress)
    except CorruptStore as damage:
        try:
            found = survey(_url(options), progress)
        except NoughtsError:
            raise damage from None
        return VerifyReport(*found.copied, (str(damage), *found.left_behind))


def _backup(options: Namespace, console: Console) -> None:
    with open_saved(options.store) as store, _progress(console.err) as progress:
        games, events = backup(store, options.file, progress)
    if options.json:
        _write_json(console.out, games=games, events=events, file=options.file)
    else:
        _report(games, events, f"copied to {options.file}", console.out)


def _restore(options: Namespace, console: Console) -> None:
    with _progress(console.err) as progress:
        (games, events), replaced, warnings = restore(
            options.file,
            _url(options),
            progress,
            checkpoint_file=os.environ.get("NOUGHTS_CHECKPOINT_FILE", ""),
        )
    place = replaced and str(replaced)
    if options.json:
        counts = {"games": games, "events": events}
        _write_json(console.out, **counts, file=options.file, replaced=place, warnings=warnings)
        return
    if console.err:
        for warning in warnings:
            say(f"noughts: {printable(warning)}", console.err)
    _report(games, events, f"restored from {options.file}", console.out)
    if place:
        say(f"What was there is now {printable(place)}.", console.out)


def _repair(options: Namespace, console: Console) -> None:
    url, out = _url(options), console.out
    file = options.file or str(free_name(sqlite_path(url) or Path("games.sqlite"), "repaired"))
    with _progress(console.err) as progress:
        (games, events), left_behind = repair(url, file, progress)
    if options.json:
        _write_json(out, games=games, events=events, file=file, left_behind=left_behind)
        return
    _report(games, events, f"copied to {file}", out)
    for line in left_behind:
        say(f"Not copied: {printable(line)}", out)
    place = f" --store {quote(options.store)}" if options.store else ""
    if not sqlite_path(url):  # it may have a password in it
        place = " --store URL (of an empty database)"
    # Not wrapped, so that it can be copied.
    out.write(f"To use it: noughts store restore {printable(quote(file) + place)}\n")


def _import(options: Namespace, console: Console) -> None:
    with (
        _source(options.file) as source,
        open_saved(options.store, create=True) as store,
        _progress(console.err) as progress,
    ):
        done = import_lines(store, source, progress)
    if options.json:
        _write_json(console.out, **done._asdict())
        return
    counts = f"{_count(done.games, 'game')}: {_count(done.events, 'event')} recorded"
    say(f"{counts}, {done.known} known before.", console.out)


@contextmanager
def _progress(err: TextIO | None) -> Iterator[Progress]:
    """Show a bar if the work takes long."""
    with ProgressBar(100, err, delay_seconds=DELAY_SECONDS) as bar:
        yield lambda share: bar.show(int(100 * share))


def _write_json(out: TextIO, **fields: object) -> None:
    out.write(f"{json.dumps(fields)}\n")


def _report(games: int, events: int, what: str, out: TextIO) -> None:
    say(f"{_count(games, 'game')}, {_count(events, 'event')}: {printable(what)}.", out)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _url(options: Namespace) -> str:
    return store_url(options.store, os.environ)


def _source(file: str) -> BinaryIO:
    try:
        if file != "-":
            return Path(file).open("rb")
    except OSError as error:
        raise RecordError(f"{file} cannot be read: {error.strerror}") from error
    if not sys.stdin:
        raise RecordError("- cannot be read: standard input is closed")
    return sys.stdin.buffer


_TASKS = {
    "verify": ("look for records that are missing or have changed", _verify),
    "backup": ("copy everything into a new file", _backup),
    "restore": ("replace the store by a backup; the old one is kept under a new name", _restore),
    "repair": ("copy every sound game into a new file, and list what is left behind", _repair),
    "export": ("write all games as JSON lines", _export),
    "import": ("record games from JSON lines; all of them, or none", _import),
}

_FILES = {
    "backup": "the new file",
    "restore": "the backup",
    "import": "the JSON lines; - is standard input",
}
