"""The tasks of `noughts store`: verify, back up, restore, repair, import and export."""

from __future__ import annotations

import os
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shlex import quote
from shutil import get_terminal_size
from typing import BinaryIO, TextIO

from noughts.cli.progress import WIDTH, Bar
from noughts.cli.recorder import open_saved, store_url
from noughts.cli.saved import opened
from noughts.core.errors import NoughtsError, RecordError, printable
from noughts.store.errors import CorruptStore
from noughts.store.verify import Progress, VerifyReport

PROGRESS_DELAY_SECONDS = 1.0


def run_task(options: Namespace, out: TextIO) -> None:
    """Run a task that prints what it did."""
    tasks: dict[str, Callable[[Namespace, TextIO], None]] = {
        "verify": _verify,
        "backup": _backup,
        "restore": _restore,
        "repair": _repair,
        "import": _import,
    }
    tasks[options.task](options, out)


def export_everything(options: Namespace, out: BinaryIO) -> None:
    """Write all saved games as JSON lines."""
    from noughts.store.archive import export_all  # noqa: PLC0415 - loads only what is used

    with opened(options) as store:
        out.writelines(line.encode() for line in export_all(store))


def _verify(options: Namespace, out: TextIO) -> None:
    with _progress() as progress:
        games, events, faults = _examine(options, progress)
    with suppress(BrokenPipeError):  # the exit code reports damage even if nobody reads this
        if options.json:
            import json  # noqa: PLC0415 - the same

            out.write(json.dumps({"games": games, "events": events, "faults": faults}) + "\n")
        else:
            out.writelines(f"{printable(fault)}\n" for fault in faults)
            state = "the rest, as they were recorded" if faults else "all as they were recorded"
            out.write(f"{_count(games, 'game')}, {_count(events, 'event')}: {state}.\n")
        out.flush()
    if faults:
        raise CorruptStore(
            f"the store is damaged: {_count(len(faults), 'fault')} "
            "(noughts store repair copies what is sound into a new store)"
        )


def _examine(options: Namespace, progress: Progress) -> VerifyReport:
    """Examine a store; if damage keeps it from being opened, count what can be read all the same."""
    from noughts.store.backups import survey  # noqa: PLC0415 - the same
    from noughts.store.verify import VerifyReport, examine  # noqa: PLC0415 - the same

    try:
        with opened(options) as store:
            return examine(store, progress)
    except CorruptStore as damage:
        try:
            found = survey(_url(options), progress)
        except NoughtsError:
            raise damage from None
        return VerifyReport(*found.copied, (str(damage), *found.left_behind))


def _backup(options: Namespace, out: TextIO) -> None:
    from noughts.store.backups import backup  # noqa: PLC0415 - the same

    with opened(options) as store:
        games, events = backup(store, options.file)
    _report(games, events, f"copied to {options.file}", out)


def _restore(options: Namespace, out: TextIO) -> None:
    from noughts.store.backups import restore  # noqa: PLC0415 - the same

    with _progress() as progress:
        (games, events), replaced, warnings = restore(
            options.file,
            _url(options),
            progress,
            checkpoint_file=os.environ.get("NOUGHTS_CHECKPOINT_FILE", ""),
        )
    if sys.stderr:
        sys.stderr.writelines(f"noughts: {printable(warning)}\n" for warning in warnings)
    _report(games, events, f"restored from {options.file}", out)
    if replaced:
        out.write(f"What was there is now {printable(str(replaced))}.\n")


def _repair(options: Namespace, out: TextIO) -> None:
    from noughts.store.backups import repair  # noqa: PLC0415 - the same
    from noughts.store.files import free_name  # noqa: PLC0415 - the same
    from noughts.store.urls import sqlite_path  # noqa: PLC0415 - the same

    url = _url(options)
    file = options.file or str(free_name(sqlite_path(url) or Path("games.sqlite"), "repaired"))
    with _progress() as progress:
        (games, events), left_behind = repair(url, file, progress)
    _report(games, events, f"copied to {file}", out)
    out.writelines(f"Not copied: {printable(line)}\n" for line in left_behind)
    place = f" --store {quote(options.store)}" if options.store else ""
    if not sqlite_path(url):  # it may have a password in it
        place = " --store URL (of an empty database)"
    out.write(f"To use it: noughts store restore {printable(quote(file) + place)}\n")


def _import(options: Namespace, out: TextIO) -> None:
    from noughts.store.archive import import_lines  # noqa: PLC0415 - the same

    with _source(options.file) as source, open_saved(options.store, os.environ) as store:
        done = import_lines(store, source)
    counts = f"{_count(done.games, 'game')}: {_count(done.events, 'event')} recorded"
    out.write(f"{counts}, {done.known} known before.\n")


@contextmanager
def _progress() -> Iterator[Progress]:
    """Show a bar if it takes longer than a moment, and if there is room for it."""
    has_room = get_terminal_size().columns > WIDTH + 10
    bar, start, is_shown = Bar(100, sys.stderr if has_room else None), time.monotonic(), False

    def show(share: float) -> None:
        nonlocal is_shown
        if is_shown or time.monotonic() > start + PROGRESS_DELAY_SECONDS:
            is_shown = True
            bar.show(int(100 * share))

    try:
        yield show
    finally:
        if is_shown:
            bar.clear()


def _report(games: int, events: int, what: str, out: TextIO) -> None:
    out.write(f"{_count(games, 'game')}, {_count(events, 'event')}: {printable(what)}.\n")


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
        raise RecordError("- cannot be read: there is no standard input")
    return sys.stdin.buffer
