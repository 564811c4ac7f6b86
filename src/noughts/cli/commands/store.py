"""`noughts store`: verify, back up, export and import the store of games."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TextIO

from noughts.cli import options as shared
from noughts.cli.console import Console
from noughts.cli.layout import say
from noughts.cli.progress import DELAY_SECONDS, ProgressBar
from noughts.cli.recorder import look_up, open_saved
from noughts.core.errors import RecordError, printable
from noughts.store.archive import export_all, export_game, import_lines
from noughts.store.base import Progress
from noughts.store.errors import CorruptStore, StoreLost, StoreUnavailable
from noughts.store.verify import VerifyReport, examine

HELP = shared.CommandHelp(
    "Look after the store of games: verify, back up, export or import it.",
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
        if task == "export":  # which writes JSON anyway
            one.add_argument(
                "game",
                metavar="GAME",
                nargs="?",
                help="its id, or the beginning of it (default: all games)",
            )
            one.add_argument("--rooms", action="store_true", help="with the seats of games on the web")
            shared.prints_data(one)
        else:
            shared.add_json(one)
        shared.add_store(one)


def run(options: Namespace, console: Console) -> None:
    _, task = _TASKS[options.task]
    task(options, console)


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
            f"the store is damaged: {_count(len(faults), 'fault')} (noughts store export writes what is "
            "sound, for noughts store import into a new store: docs/store.md)"
        )


def _examine(options: Namespace, progress: Progress) -> VerifyReport:
    try:
        with open_saved(options.store) as store:
            return examine(store, progress)
    except CorruptStore as damage:  # it can't even be opened
        return VerifyReport(0, 0, (str(damage),))


def _backup(options: Namespace, console: Console) -> None:
    with open_saved(options.store) as store, _progress(console.err) as progress:
        store.backup(options.file, progress)
    if options.json:
        _write_json(console.out, file=options.file)
    else:
        say(f"Copied to {printable(options.file)}.", console.out)


def _export(options: Namespace, console: Console) -> None:
    out = console.binary_out
    if options.game is not None:
        stored = look_up(options.game, options.store)
        out.write(export_game(stored, with_room=options.rooms).encode())
        return
    # The lines are progress enough for somebody who reads them.
    err = None if out.isatty() else console.err
    damage: list[str] = []
    with open_saved(options.store) as store, _progress(err) as progress:
        for line in export_all(store, damage.append, progress, with_rooms=options.rooms):
            out.write(line.encode())
    if damage:
        if console.err:
            for fault in damage:
                say(f"noughts: {printable(fault)}", console.err)
        raise CorruptStore("the store is damaged: only what is sound was written (docs/store.md)")


def _import(options: Namespace, console: Console) -> None:
    skipped: list[str] = []
    with _source(options.file) as source, open_saved(options.store, create=True) as store:
        store.check_writable()
        try:
            with _progress(console.err) as progress:
                done = import_lines(store, source, skipped.append, progress)
        except (StoreUnavailable, StoreLost) as error:
            again = "what was imported stays, and the import can be repeated"
            raise type(error)(f"{error} ({again})") from error
    if options.json:
        _write_json(console.out, **done._asdict() | {"skipped": skipped})
    else:
        for reason in skipped:
            say(f"Not imported: {printable(reason)}.", console.out)
        _report(done.games, done.events, f"imported, {done.known:,} known before", console.out)
    if skipped:
        raise RecordError(f"{_count(len(skipped), 'line')} not imported")


@contextmanager
def _progress(err: TextIO | None) -> Iterator[Progress]:
    """Show a bar if the work takes long."""
    with ProgressBar(100, err, delay_seconds=DELAY_SECONDS) as bar:
        yield lambda share: bar.show(int(100 * share))


def _write_json(out: TextIO, **fields: object) -> None:
    out.write(f"{json.dumps(fields)}\n")


def _report(games: int, events: int, what: str, out: TextIO) -> None:
    say(f"{_count(games, 'game')}, {_count(events, 'event')}: {what}.", out)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


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
    "verify": ("look for games that have changed, and other damage", _verify),
    "backup": ("copy everything into a new file", _backup),
    "export": ("write a game, or all games, as JSON lines", _export),
    "import": ("record games from JSON lines; what is there already is skipped", _import),
}

_FILES = {"backup": "the new file", "import": "the JSON lines; - is standard input"}
