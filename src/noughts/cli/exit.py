"""How the command ends: exit codes, last messages, and no traceback whatever happens."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from errno import EIO
from select import POLLHUP, POLLOUT, poll
from types import FrameType
from typing import TextIO

from noughts.core.errors import NoughtsError, printable

RAISE_AGAIN_SECONDS = 0.001
DONE, FAILED, BAD_USAGE, HUNG_UP, INTERRUPTED = 0, 1, 2, 129, 130


def run_to_exit(work: Callable[[], None]) -> int:
    """Do the work and return the exit code."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        # A shell ignores SIGINT for a command in the background, and nohup ignores SIGHUP.
        if number is signal.SIGTERM or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _leave)
    sys.unraisablehook = _on_unraisable
    try:
        code = _end(work)
    except (KeyboardInterrupt, Terminated) as late:  # the command was ending already
        _give_up(sys.stdout)
        code = INTERRUPTED if isinstance(late, KeyboardInterrupt) else late.code
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number is not signal.SIGHUP or signal.getsignal(number) is _leave:
            signal.signal(number, signal.SIG_DFL)  # nothing is left to write: just end
    signal.setitimer(signal.ITIMER_REAL, 0)  # raise nothing while Python shuts down
    _write_if_ready("", sys.stderr)  # what the parser wrote may still be buffered
    return code


def _end(work: Callable[[], None]) -> int:
    """Do the work, report how it ended, and return the exit code."""
    try:
        try:
            code = _run(work)
            if sys.stdout:
                sys.stdout.flush()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)  # nothing is raised from here on
    except Terminated as signalled:
        _give_up(sys.stdout)  # it may be full with nobody reading: don't wait
        code = signalled.code
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # an impatient second Ctrl-C changes nothing
        from noughts.text.catalogue import ENGLISH  # noqa: PLC0415 - only Ctrl-C needs it

        _write_if_ready(f"\n{ENGLISH.say('game.goodbye')}\n", sys.stdout)
        code = INTERRUPTED
    except BrokenPipeError:
        _give_up(sys.stdout)  # the reader has gone
        code = DONE
    except NoughtsError as error:
        _flush(sys.stdout)
        from noughts.cli.layout import fit  # noqa: PLC0415 - only an error needs it

        _write_if_ready(f"{fit(f'noughts: {printable(str(error))}', sys.stderr)}\n", sys.stderr)
        code = error.exit_code
    except OSError as error:
        code = HUNG_UP if error.errno == EIO and _is_hung_up(sys.stdout) else FAILED
        _give_up(sys.stdout)
        if code == FAILED:
            _write_if_ready(f"noughts: cannot continue: {error.strerror}\n", sys.stderr)
    return code


def _run(work: Callable[[], None]) -> int:
    try:
        work()
    except Terminated:
        raise
    except SystemExit as leaving:  # the parser has shown its help, or refused the usage
        return leaving.code if isinstance(leaving.code, int) else DONE
    return DONE


class Terminated(SystemExit):
    """Raised by SIGTERM and SIGHUP; it ends the command silently."""

    code: int


def _leave(number: int, frame: FrameType | None) -> None:
    """Handle a signal that ends the command."""
    _raise(KeyboardInterrupt() if number == signal.SIGINT else Terminated(128 + number), frame)


def _on_unraisable(unraisable: sys.UnraisableHookArgs) -> None:
    """Raise a signal's exception a moment later if it came where Python swallows it, as in imports."""
    leaving = unraisable.exc_value
    if isinstance(leaving, KeyboardInterrupt | Terminated):
        _raise_later(leaving)
    elif not (isinstance(leaving, OSError) and "race condition" in str(leaving)):
        # That is what Python says of a signal that came just before it was to be ignored.
        sys.__unraisablehook__(unraisable)


def _raise(leaving: BaseException, frame: FrameType | None) -> None:
    """Raise, or try again in a moment if `frame` is inside the hook, which no exception can leave."""
    while frame:
        if frame.f_code is _on_unraisable.__code__:
            _raise_later(leaving)
            return
        frame = frame.f_back
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, lambda _number, _frame: None)  # one may have come meanwhile
    raise leaving


def _raise_later(leaving: BaseException) -> None:
    """Try every moment: an alarm just before a system call that waits does not end that call."""
    signal.signal(signal.SIGALRM, lambda _number, frame: _raise(leaving, frame))
    signal.setitimer(signal.ITIMER_REAL, RAISE_AGAIN_SECONDS, RAISE_AGAIN_SECONDS)


def _write_if_ready(text: str, stream: TextIO | None) -> None:
    """Write if that can be done at once: neither a full disk nor a full pipe blocks the exit."""
    if stream is None:
        return
    polling = poll()
    polling.register(stream, POLLOUT)
    try:
        if polling.poll(0):
            print(text, end="", file=stream, flush=True)
        else:
            _give_up(stream)
    except OSError:
        _give_up(stream)


def _flush(stream: TextIO | None) -> None:
    """Flush the stream if somebody reads it."""
    try:
        if stream:
            stream.flush()
    except OSError:
        _give_up(stream)


def _is_hung_up(stream: TextIO | None) -> bool:
    """Return whether the stream is a closed terminal; writing may fail before SIGHUP arrives."""
    polling = poll()
    if stream:
        polling.register(stream, POLLOUT)
    return any(events & POLLHUP for _, events in polling.poll(0))


def _give_up(stream: TextIO | None) -> None:
    """Discard what is still buffered: Python would fail on it again at exit."""
    if stream:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
