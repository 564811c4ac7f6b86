"""How the command leaves: its exit codes, and its last words if somebody is there to hear them."""

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

RETRY_SECONDS = 0.001
DONE, FAILED, BAD_USAGE, HUNG_UP, INTERRUPTED, TERMINATED = 0, 1, 2, 129, 130, 143


def leave_well(work: Callable[[], None]) -> int:
    """Do the work and return the exit code; whatever happens, no traceback is shown."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        # A shell ignores SIGINT for a command in the background, and nohup ignores SIGHUP.
        if number is signal.SIGTERM or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _leave)
    sys.unraisablehook = _on_unraisable
    try:
        code = _end(work)
    except (KeyboardInterrupt, _Terminated) as late:  # the command was leaving already
        _give_up(sys.stdout)
        code = INTERRUPTED if isinstance(late, KeyboardInterrupt) else int(late.code or TERMINATED)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number is not signal.SIGHUP or signal.getsignal(number) is _leave:
            signal.signal(number, signal.SIG_DFL)  # nothing is left to say: it just ends the process
    signal.setitimer(signal.ITIMER_REAL, 0)  # nothing is raised later, when Python itself ends
    _last_words("", sys.stderr)  # what the parser said may wait there still
    return code


def _end(work: Callable[[], None]) -> int:
    """Do the work, say what there is to say of its end, and return the exit code."""
    try:
        try:
            code = _finish(work)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)  # what is to be raised later is raised now, or never
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # an impatient second Ctrl-C changes nothing
        _last_words("\nGoodbye!\n", sys.stdout)
        code = INTERRUPTED
    except BrokenPipeError:
        _give_up(sys.stdout)  # whoever was reading has gone, and needs no words
        code = DONE
    except NoughtsError as error:
        _flush(sys.stdout)
        _last_words(f"noughts: {printable(str(error))}\n", sys.stderr)
        code = error.exit_code
    except OSError as error:
        code = HUNG_UP if error.errno == EIO and _is_hung_up(sys.stdout) else FAILED
        _give_up(sys.stdout)
        if code == FAILED:
            _last_words(f"noughts: cannot go on: {error.strerror}\n", sys.stderr)
    return code


def _finish(work: Callable[[], None]) -> int:
    """Do the work, and see to it that all it said is written."""
    try:
        try:
            work()
            code = DONE
        except _Terminated:
            raise
        except SystemExit as leaving:  # the parser has shown its help, or refused the usage
            code = leaving.code if isinstance(leaving.code, int) else DONE
        if sys.stdout:
            sys.stdout.flush()
    except _Terminated as signalled:
        _give_up(sys.stdout)  # it may be full, with nobody reading, and there is no time to wait
        return int(signalled.code or TERMINATED)
    return code


class _Terminated(SystemExit):
    """SIGTERM or SIGHUP came; wherever that is, Python leaves with its code and without a word."""


def _leave(number: int, frame: FrameType | None) -> None:
    """Handle a signal that ends the command."""
    _raise(KeyboardInterrupt() if number == signal.SIGINT else _Terminated(128 + number), frame)


def _on_unraisable(unraisable: sys.UnraisableHookArgs) -> None:
    """Raise a signal's exception a moment later if it came where Python lets no exception out.

    There are such places in every import, and Ctrl-C must end the command there too.
    """
    leaving = unraisable.exc_value
    if isinstance(leaving, KeyboardInterrupt | _Terminated):
        _raise_later(leaving)
    else:
        sys.__unraisablehook__(unraisable)


def _raise(leaving: BaseException, frame: FrameType | None) -> None:
    """Raise, or try again in a moment if `frame` is inside the hook: Python lets nothing out of it."""
    while frame:
        if frame.f_code is _on_unraisable.__code__:
            _raise_later(leaving)
            return
        frame = frame.f_back
    raise leaving


def _raise_later(leaving: BaseException) -> None:
    signal.signal(signal.SIGALRM, lambda _number, frame: _raise(leaving, frame))
    signal.setitimer(signal.ITIMER_REAL, RETRY_SECONDS)


def _last_words(words: str, stream: TextIO | None) -> None:
    """Say something if it can be said at once: neither a full disk nor a full pipe holds us up."""
    if stream is None:
        return
    polling = poll()
    polling.register(stream, POLLOUT)
    try:
        if polling.poll(0):
            print(words, end="", file=stream, flush=True)
        else:
            _give_up(stream)
    except OSError:
        _give_up(stream)


def _flush(stream: TextIO | None) -> None:
    """Write what is still to be written, if somebody reads it."""
    try:
        if stream:
            stream.flush()
    except OSError:
        _give_up(stream)


def _is_hung_up(stream: TextIO | None) -> bool:
    """Return whether a stream is a terminal that was closed; writing may fail before SIGHUP arrives."""
    polling = poll()
    if stream:
        polling.register(stream, POLLOUT)
    return any(events & POLLHUP for _, events in polling.poll(0))


def _give_up(stream: TextIO | None) -> None:
    """Send what is still to be written nowhere, so that Python does not fail on it once more at exit."""
    if stream:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
