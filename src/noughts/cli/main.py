"""The `noughts` command: what it needs is put together here, and what it does not need is not loaded."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from random import Random
from typing import BinaryIO, TextIO

from noughts.cli.exit import INTERRUPTED, leave_well
from noughts.cli.opponents import Seating, Sitter
from noughts.cli.options import parser
from noughts.cli.screen import Screen, colours_wanted, is_cramped
from noughts.cli.signals import Waiting
from noughts.core.board import Mark
from noughts.core.errors import InvalidName, NotInstalled, quoted
from noughts.core.player import Player
from noughts.store.errors import StoreMissing
from noughts.text.wordings import WORDINGS


def run(arguments: Sequence[str]) -> int:
    """Obey the command line, and return the exit code."""
    return leave_well(lambda: _obey(arguments))


def _obey(arguments: Sequence[str]) -> None:
    options = parser(arguments).parse_args(arguments)
    _COMMANDS[options.command](options)


def _play(options: Namespace) -> None:
    from noughts.cli.local_game import Table  # noqa: PLC0415 - is not loaded
    from noughts.cli.opening import Starters  # noqa: PLC0415 - is not loaded
    from noughts.cli.saved import open_to_save  # noqa: PLC0415 - what a command does not need

    screen, waiting, rng = _screen(options), Waiting(), _rng()
    with _seating(options, rng, waiting) as seating:
        players, sitters = _seats(options, seating)
        store, notebook = open_to_save(options)
        with store:
            starters = Starters(options.first or screen.wording.starter, rng)
            Table(screen, _keyboard(waiting), notebook, starters, players, sitters).play()


def _watch(options: Namespace) -> None:
    from noughts.cli.commands.watch import Chance, Pause, watch  # noqa: PLC0415 - the same
    from noughts.cli.opening import Starters  # noqa: PLC0415 - the same

    screen, waiting = _screen(options), Waiting()
    rng = _rng(options.seed)
    with _seating(options, rng, waiting) as seating:
        players, called = _seats(options, seating)
        sitters = {mark: called.get(mark) or Chance(rng) for mark in Mark}
        starters = Starters(options.first or screen.wording.starter, rng)
        watch(screen, players, starters, sitters, Pause(options.interval, waiting.sleep), options.games)


def _show(options: Namespace) -> None:
    from noughts.cli.commands.show import show  # noqa: PLC0415 - the same
    from noughts.cli.commands.watch import Pause  # noqa: PLC0415 - the same

    pause = Pause(options.interval, Waiting().sleep)
    show(_screen(options), options.position, Mark(options.first), pause)


def _resume(options: Namespace) -> None:
    from noughts.cli.opening import Starters  # noqa: PLC0415 - the same
    from noughts.cli.saved import resume  # noqa: PLC0415 - the same

    screen, waiting, rng = _screen(options), Waiting(), _rng()
    with _seating(options, rng, waiting) as seating:
        starters = Starters(options.first or screen.wording.starter, rng)
        resume(options, screen, _keyboard(waiting), seating, starters)


def _join(options: Namespace) -> None:
    from noughts.cli.commands.join import join  # noqa: PLC0415 - the same

    join(options, _screen(options), sys.stdin.fileno() if sys.stdin else None, Waiting())


def _analyse(options: Namespace) -> None:
    from noughts.cli.commands.analyse import analyse  # noqa: PLC0415 - the same

    out = _out()
    analyse(options, out, colour=colours_wanted(options.color, out, os.environ))


def _odds(options: Namespace) -> None:
    from noughts.cli.commands.odds import tell_odds  # noqa: PLC0415 - the same

    tell_odds(options, _out())


def _certify(options: Namespace) -> None:
    from noughts.cli.commands.certify import certify_bots  # noqa: PLC0415 - the same

    certify_bots(options, _out())


def _menace(options: Namespace) -> None:
    from noughts.cli.commands.menace import look_after_machine  # noqa: PLC0415 - the same

    if options.task != "train" or options.plot is None:
        look_after_machine(options, _out(), sys.stderr)
        return
    with _in_the_lab():
        from noughts.lab.plots import check_plot, plot_curves  # noqa: PLC0415 - the same
    check_plot(options.plot)  # before it learns anything
    look_after_machine(options, _out(), sys.stderr, plot_curves)


def _tournament(options: Namespace) -> None:
    import signal  # noqa: PLC0415 - the same

    from noughts.cli.machines import asked_policy  # noqa: PLC0415 - the same
    from noughts.cli.progress import Bar  # noqa: PLC0415 - the same

    with _in_the_lab():
        from noughts.cli.commands.tournament import tell_tournament  # noqa: PLC0415 - the same

    def interrupt(*_: object) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C does not take the table away
        raise KeyboardInterrupt

    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, interrupt)
    with _telling_data(is_data=options.json or options.csv):
        tell_tournament(options, asked_policy, _out(), lambda total: Bar(total, sys.stderr))


def _simulate(options: Namespace) -> None:
    from noughts.cli.machines import asked_policy  # noqa: PLC0415 - the same
    from noughts.cli.progress import Bar  # noqa: PLC0415 - the same

    with _in_the_lab():
        from noughts.cli.commands.simulate import tell_simulation  # noqa: PLC0415 - the same
    with _telling_data(is_data=options.json):
        tell_simulation(options, asked_policy, _out(), Bar(options.games, sys.stderr))


def _dataset(options: Namespace) -> None:
    with _in_the_lab():
        from noughts.lab.dataset import write_dataset  # noqa: PLC0415 - the same
    write_dataset(options.file, options.format, _binary_out())


def _replay(options: Namespace) -> None:
    from noughts.cli.saved import replay  # noqa: PLC0415 - the same

    replay(options, _screen(options), Waiting())


def _games(options: Namespace) -> None:
    from noughts.cli.saved import games  # noqa: PLC0415 - the same

    games(options, _out())


def _events(options: Namespace) -> None:
    from noughts.cli.saved import events  # noqa: PLC0415 - the same

    events(options, _out())


def _export(options: Namespace) -> None:
    from noughts.cli.saved import export  # noqa: PLC0415 - the same

    export(options, _binary_out())


def _serve(options: Namespace) -> None:
    from noughts.cli.recorder import open_saved, store_url  # noqa: PLC0415 - the same

    try:
        from noughts.web.serve import serve  # noqa: PLC0415 - the same, and it is an extra
    except ImportError as error:
        raise NotInstalled(
            "serving needs packages that are not installed: pip install 'noughts[web]'"
        ) from error
    with suppress(StoreMissing):
        open_saved(options.store, os.environ, create=False).close()  # an old one is set aside
    store, bots = store_url(options.store, os.environ), options.bot
    serve(options.host, options.port, store, bots, options.workers, _out())


def _store(options: Namespace) -> None:
    from noughts.cli.commands.store import export_everything, run_task  # noqa: PLC0415 - the same

    if options.task == "export":
        export_everything(options, _binary_out())
    else:
        run_task(options, _out())


_COMMANDS: dict[str, Callable[[Namespace], None]] = {
    "play": _play,
    "watch": _watch,
    "join": _join,
    "show": _show,
    "analyse": _analyse,
    "odds": _odds,
    "certify": _certify,
    "menace": _menace,
    "tournament": _tournament,
    "simulate": _simulate,
    "dataset": _dataset,
    "games": _games,
    "resume": _resume,
    "replay": _replay,
    "events": _events,
    "export": _export,
    "serve": _serve,
    "store": _store,
}


@contextmanager
def _in_the_lab() -> Iterator[None]:
    """Say what is missing, if what the lab needs is not installed."""
    try:
        yield
    except ImportError as error:
        raise NotInstalled(
            f"the lab needs {quoted(error.name)}, which is not installed: pip install 'noughts[lab]'"
        ) from error


@contextmanager
def _telling_data(*, is_data: bool) -> Iterator[None]:
    """Let exact numbers be as long as they are, and no last words spoil data."""
    sys.set_int_max_str_digits(0)  # the limit is for numbers from strangers; these are our own
    try:
        yield
    except KeyboardInterrupt:
        if is_data:
            raise SystemExit(INTERRUPTED) from None
        raise


def _rng(seed: str | None = None) -> Random:
    from random import Random  # noqa: PLC0415 - the same

    return Random(None if seed is None else os.fsencode(seed))  # noqa: S311 - a game, no secret


def _out() -> TextIO:
    if not sys.stdout:
        return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - until the end
    # A name that the terminal has no letters for is shown in escapes, and ends nothing.
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # it is a file
    return sys.stdout


def _binary_out() -> BinaryIO:
    """Return where data goes: it is UTF-8 wherever it is written."""
    return sys.stdout.buffer if sys.stdout else open(os.devnull, "wb")  # noqa: PTH123 - until the end


def _keyboard(waiting: Waiting) -> BinaryIO | None:
    return waiting.reader(sys.stdin.buffer) if sys.stdin else None


def _screen(options: Namespace) -> Screen:
    out = _out()
    return Screen(
        out=out,
        wording=WORDINGS[options.wording],
        colour=colours_wanted(options.color, out, os.environ),
        spoken=options.describe,
        cramped=lambda: is_cramped(out),
        interactive=out.isatty() and bool(sys.stdin) and sys.stdin.isatty(),
        events=getattr(options, "events", False),
    )


def _seating(options: Namespace, rng: Random, waiting: Waiting) -> Seating:
    from noughts.cli.opponents import Seating  # noqa: PLC0415 - the same
    from noughts.cli.recorder import keeps_games  # noqa: PLC0415 - the same

    saves = options.command != "watch" and keeps_games(options, os.environ)
    return Seating(rng, waiting.wait, options.patience, saves=saves)


def _seats(options: Namespace, seating: Seating) -> tuple[tuple[Player, ...], dict[Mark, Sitter]]:
    """Return those who have names, and who of them plays without a keyboard.

    What is wrong with them is said before anything else.
    """
    from noughts.cli.opening import new_game  # noqa: PLC0415 - the same
    from noughts.cli.opponents import seated  # noqa: PLC0415 - the same
    from noughts.core.player import is_same_name  # noqa: PLC0415 - the same

    asked = {Mark.X: options.x, Mark.O: options.o}
    sitters = {mark: sitter for mark, seat in asked.items() if seat and (sitter := seating.call(seat))}
    game = new_game(Mark.X, seated(asked, sitters), are_entered=True)
    wording = WORDINGS[options.wording]
    for player in game.players:
        other = player.mark.other
        calls = [words.format(mark=other) for words in (wording.player, wording.winner)]
        if not game.player(other) and any(is_same_name(player.name, call) for call in calls):
            raise InvalidName(f"the players need different names, and '{player.name}' means {other}")
    return game.players, sitters
