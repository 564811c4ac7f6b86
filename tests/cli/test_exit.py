"""How the command ends, and how it refuses bad input: with a sentence, not a traceback."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import pytest

from noughts.cli.main import build_parser, is_data
from support.at_once import run_code
from support.command import COMMAND, environment, run_unread
from support.deadlines import DEADLINE_SECONDS
from support.forked import noughts
from support.pseudo_terminal import CTRL_C, CTRL_D, Session, between_pipes, in_terminal

QUESTION = "Player X, enter a position from 1 to 9:"
NEXT_QUESTION = "Player O, enter a position from 1 to 9:"
AGAIN = "Play again? (y/n)"
EMPTY = "1|2|3\n-+-+-\n4|5|6\n-+-+-\n7|8|9\n"

LIMITED = (
    "import os, resource, sys\n"
    "resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]), int(sys.argv[1])))\n"
    "os.execv(sys.argv[2], sys.argv[2:])\n"
)

CROWDED = (
    "import os, resource, sys\n"
    "resource.setrlimit(resource.RLIMIT_NOFILE, (2048, 2048))\n"
    "[os.dup2(0, number) for number in range(3, 1100)]\n"
    "os.execv(sys.argv[1], sys.argv[1:])\n"
)

HOSTILE = {
    "an escape sequence": b"\x1b[2J\x1b[31mred",
    "a bell and a backspace": b"\x07\x08",
    "the one-byte escape": "\x9b31m".encode(),
    "a right-to-left override": "\u202eabc".encode(),
    "a right-to-left isolate": "\u2066abc\u2069".encode(),
    "bytes that are no UTF-8": b"\xff\xfe",
    "half a surrogate": b"\xed\xa0\x80",
    "a line break": b"a\nb",
}
hostile = pytest.mark.parametrize("harm", [pytest.param(harm, id=why) for why, harm in HOSTILE.items()])


def refused(*arguments: str | bytes) -> str:
    """Run the command, which must refuse its arguments; return its clean message."""
    ran = noughts(*map(os.fsdecode, arguments))
    words = ran.stderr
    assert (ran.returncode, ran.stdout) == (2, "")
    assert words.startswith("noughts")
    assert all(line.isprintable() for line in words.splitlines())
    assert len(words) < 1000
    assert "Traceback" not in words
    return words


@contextmanager
def asked() -> Iterator[Session]:
    """Start a game in a terminal, and return it at its first question."""
    with in_terminal("play") as session:
        session.expect(f"{QUESTION} ")
        yield session


# Leaving a game


@pytest.mark.parametrize("is_after_a_game", [False, True])
@pytest.mark.parametrize(("keys", "code"), [(CTRL_C, 130), (20 * CTRL_C, 130), (CTRL_D, 0)])
def test_ctrl_c_and_ctrl_d_say_goodbye(keys: bytes, code: int, *, is_after_a_game: bool) -> None:
    with asked() as session:
        if is_after_a_game:
            session.type("resign\n")
            session.expect("Play again? (y, n, swap, review) ")
        before = session.output

        session.type(keys)

        assert session.end() == code
        assert session.output == before + b"\r\nGoodbye!\r\n"


@pytest.mark.parametrize(
    ("way", "code", "goodbye"),
    [
        (CTRL_C, 130, b"\r\nGoodbye!\r\n"),
        (signal.SIGINT, 130, b"\r\nGoodbye!\r\n"),
        (signal.SIGTERM, 143, b""),
    ],
)
def test_ctrl_c_or_a_signal_ends_a_long_pause(
    way: bytes | signal.Signals, code: int, goodbye: bytes
) -> None:
    with in_terminal("watch", "--interval", "60") as session:
        session.expect("Player X:")
        session.expect("-+-+-")

        if isinstance(way, bytes):
            session.type(way)
        else:
            session.send(way)

        assert session.end() == code
        assert session.output.endswith(goodbye)


def test_sigterm_at_a_question_ends_the_game() -> None:
    with asked() as session:
        session.send(signal.SIGTERM)

        assert session.end() == 143
        assert b"Traceback" not in session.output


@pytest.mark.parametrize(
    ("arguments", "is_full_before"),
    [(["watch", "--games", "100000", "--interval", "0"], False), (["--help"], True)],
)
def test_sigterm_ends_a_command_whose_pipe_is_full(arguments: list[str], *, is_full_before: bool) -> None:
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)  # one page, which a few boards fill
    if is_full_before:
        os.set_blocking(writing, False)
        with suppress(BlockingIOError):
            while True:
                os.write(writing, bytes(4096))
        os.set_blocking(writing, True)
    with subprocess.Popen([*COMMAND, *arguments], stdout=writing, env=environment()) as process:
        try:
            place = Path(f"/proc/{process.pid}/wchan")
            deadline = time.monotonic() + DEADLINE_SECONDS
            while "pipe_write" not in place.read_text():
                assert time.monotonic() < deadline, "the command never had to wait"

            process.send_signal(signal.SIGTERM)

            assert process.wait(DEADLINE_SECONDS / 4) == 143
        finally:
            process.kill()
            os.close(reading)
            os.close(writing)


INSIDE_THE_HOOK = """
import os, signal, sys
from noughts.cli.exit import run_to_exit

first, second, step = map(int, sys.argv[1:])
steps = 0

class Dropped:
    def __del__(self):
        os.kill(os.getpid(), first)  # what its handler raises here is unraisable

def trace(frame, event, argument):
    global steps
    if frame.f_code is not sys.unraisablehook.__code__:
        return None
    steps += 1
    if steps == step:
        os.kill(os.getpid(), second)
    return trace

def work():
    sys.settrace(trace)
    try:
        Dropped()
    finally:
        sys.settrace(None)
    if steps < step:
        print("over", flush=True)
    while True:
        signal.pause()

sys.exit(run_to_exit(work))
"""


@pytest.mark.parametrize(
    ("first", "second"),
    [(signal.SIGTERM, signal.SIGTERM), (signal.SIGINT, signal.SIGHUP), (signal.SIGTERM, signal.SIGINT)],
)
def test_a_signal_ends_the_command_wherever_a_second_one_arrives(
    first: signal.Signals, second: signal.Signals
) -> None:
    """A signal that arrives while Python reports an earlier one is neither lost nor a traceback."""
    is_over, step = False, 0
    while not is_over:
        step += 1
        ran = run_code(
            INSIDE_THE_HOOK, *(str(int(one)) for one in (first, second, step)), env=environment()
        )

        assert ran.returncode in (128 + first, 128 + second), ran.stderr
        assert ran.stderr == ""
        is_over = ran.stdout.startswith("over")  # the hook has fewer steps than that
        assert step < 100, "the hook has no end"
    assert step > 3, "no signal arrived inside the hook"


JUST_IGNORED = """
import sys
from noughts.cli.exit import run_to_exit

class Dropped:
    def __del__(self):
        raise OSError(sys.argv[1])  # nobody can catch it

sys.exit(run_to_exit(Dropped))
"""


@pytest.mark.parametrize(
    ("error", "shown"),
    [("Signal 2 ignored due to race condition", ""), ("disk full", "OSError: disk full\n")],
)
def test_a_signal_that_comes_just_before_it_is_ignored_leaves_no_traceback(
    error: str, shown: str
) -> None:
    ran = run_code(JUST_IGNORED, error, env=environment())

    assert ran.returncode == 0
    assert ran.stderr.endswith(shown)
    assert bool(ran.stderr) == bool(shown)


def test_closing_the_terminal_ends_the_game() -> None:
    with asked() as session:
        session.close()

        assert session.end() in (0, 128 + signal.SIGHUP)


def test_a_closed_terminal_is_noticed_before_the_signal_arrives() -> None:
    """Writing to it may fail first; the exit code is still that of a hang-up."""
    terminal, inside = os.openpty()
    with subprocess.Popen(
        [*COMMAND, "watch", "--games", "100000", "--interval", "0"],
        stdin=subprocess.DEVNULL,
        stdout=inside,
        stderr=subprocess.PIPE,
        env=environment(),
        start_new_session=True,  # it is not its own terminal, so no signal ever comes
    ) as process:
        os.close(inside)
        os.read(terminal, 1)

        os.close(terminal)

        assert process.wait(DEADLINE_SECONDS) == 128 + signal.SIGHUP
        assert process.stderr
        assert process.stderr.read() == b""


WHILE_LEAVING = """
import errno, os, signal, sys
from noughts.cli import exit as leaving

step, steps = int(sys.argv[1]), 0

def trace(frame, event, argument):
    global steps
    if frame.f_code.co_filename != leaving.__file__ or event == "exception":
        return trace
    steps += 1
    if steps == step:
        sys.settrace(None)
        os.kill(os.getpid(), signal.SIGHUP)
    return trace

def work():
    print("ready", flush=True)
    os.read(0, 1)  # until the terminal is closed
    sys.stdout.write("what nobody reads")
    frame = sys._getframe()
    while frame := frame.f_back:
        frame.f_trace = trace
    sys.settrace(trace)
    raise OSError(errno.EIO, "gone")

code = leaving.run_to_exit(work)
sys.settrace(None)
print(steps < step, file=sys.stderr)
sys.exit(code)
"""


def test_a_closed_terminal_ends_the_command_cleanly_wherever_the_signal_arrives() -> None:
    """Unwritten output is dropped, and doesn't fail again when Python exits."""
    is_over, step = False, 0
    while not is_over:
        step += 1
        terminal, inside = os.openpty()
        with subprocess.Popen(
            [sys.executable, "-c", WHILE_LEAVING, str(step)],
            stdin=subprocess.PIPE,
            stdout=inside,
            stderr=subprocess.PIPE,
            env=environment(),
            start_new_session=True,
        ) as process:
            os.close(inside)
            os.read(terminal, 100)
            os.close(terminal)
            _, errors = process.communicate(timeout=DEADLINE_SECONDS)

        # Once everything is said the signal just ends the process.
        assert process.returncode in (128 + signal.SIGHUP, -signal.SIGHUP), errors
        is_over = errors == b"True\n"
        assert is_over or errors in (b"", b"False\n")
        assert step < 1000, "it never left"
    assert step > 10, "no signal arrived while it was leaving"


# Streams that are closed, full or gone


def test_a_reader_may_leave_a_game() -> None:
    with between_pipes("play") as session:
        session.expect(QUESTION)

        session.stop_reading()
        session.type("5\n")

        assert session.end() == 0


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["show", "5"]], ids=" ".join)
def test_unread_output_is_not_an_error(arguments: list[str]) -> None:
    ran = run_unread(*arguments)

    assert (ran.returncode, ran.stderr) == (0, "")


def _run_by(
    launcher: str, *arguments: str, stdin: BinaryIO | int = subprocess.DEVNULL
) -> subprocess.CompletedProcess[bytes]:
    """Run a Python script that becomes the command."""
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", launcher, *arguments],
        stdin=stdin,
        capture_output=True,
        env=environment(),
        timeout=DEADLINE_SECONDS,
        check=False,
    )


@pytest.mark.parametrize(
    "arguments", [["play"], ["watch", "--interval", "0.001"], ["show", "5"]], ids=" ".join
)
def test_many_open_files_are_not_an_error(arguments: list[str]) -> None:
    ran = _run_by(CROWDED, *COMMAND, *arguments)

    assert (ran.returncode, ran.stderr) == (0, b"")


# Bad lines


def _played_on(line: bytes) -> list[str]:
    """Type the line and then a cell; check that the game went on; return the reply to the line."""
    ran = noughts("play", typed=line + b"\n5\n")
    shown = ran.stdout.removeprefix(f"{EMPTY}{QUESTION}\n")

    assert (ran.returncode, ran.stderr) == (0, "")
    assert shown.endswith(f"{QUESTION}\n1|2|3\n-+-+-\n4|X|6\n-+-+-\n7|8|9\n{NEXT_QUESTION}\nGoodbye!\n")
    assert all(row.isprintable() for row in shown.splitlines())
    return shown.split(f"{QUESTION}\n", maxsplit=1)[0].splitlines()


NOT_TEXT = b"\xff", b"\xc3", b"5\xff", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80"
UNSHOWN = "\x1b[2J", "\x00", "5\x00", "\x7f", "\x9b31m", "\u202e5", "\u20665\u2069", "\u200b5", "\ufeff5"
BAD_LINES = {
    **dict.fromkeys(NOT_TEXT, "That is not text: it is not UTF-8."),
    **dict.fromkeys(
        (line.encode() for line in UNSHOWN),
        "That is not plain text: it has characters that cannot be shown.",
    ),
    b"5" * 10_000_000: "A line has at most 1000 bytes, and this one has more.",
}


@pytest.mark.parametrize("line", [pytest.param(line, id=ascii(line[:9])) for line in BAD_LINES])
def test_a_line_that_is_not_plain_text_is_refused(line: bytes) -> None:
    assert _played_on(line) == ["Position is Invalid!", BAD_LINES[line]]


def test_a_long_line_is_not_held_in_memory(tmp_path: Path) -> None:
    """The line is four times as long as all the memory."""
    memory = 128 << 20
    typed = tmp_path / "typed"
    with typed.open("wb") as file:
        file.truncate(4 * memory)
        file.seek(0, os.SEEK_END)
        file.write(b"\n5\n")

    with typed.open("rb") as stdin:
        ran = _run_by(LIMITED, str(memory), *COMMAND, "play", stdin=stdin)

    assert (ran.returncode, ran.stderr) == (0, b"")
    assert b"A line has at most 1000 bytes" in ran.stdout
    assert b"4|X|6" in ran.stdout


NO_CELLS = "0", "10", "-1", "5 5", "+5", "5.0", "\u0665", "\uff15", "\u00b2"


@pytest.mark.parametrize("line", [*NO_CELLS, "0,3", "d1", "a0", "five", "", " ", "{mark}"])
def test_a_line_that_is_not_a_cell_is_refused(line: str) -> None:
    invalid, sentence = _played_on(line.encode())

    assert invalid == "Position is Invalid!"
    assert sentence == "Type a number from 1 to 9, or help."


@hostile
def test_a_hostile_answer_to_the_offer_of_a_game_is_asked_again(harm: bytes) -> None:
    ran = noughts("play", typed=b"resign\n" + harm + b"\nn\n")

    assert (ran.returncode, ran.stderr) == (0, "")
    assert "Please answer y or n.\n" in ran.stdout
    assert ran.stdout.endswith(f"{AGAIN}\nGoodbye!\n")
    assert all(row.isprintable() for row in ran.stdout.splitlines())


# Bad arguments


@hostile
@pytest.mark.parametrize("seat", ["--x", "--o"])
def test_a_hostile_name_is_refused(seat: str, harm: bytes) -> None:
    """The character is named in words, not shown."""
    words = refused("play", seat, harm)

    assert re.search(r"a name can.* characters: character [12] is U\+[0-9A-F]{4}", words)
    assert "\\" not in words


SAME_NAME = "the players need different names, and '"
JOINER = "a name cannot contain invisible characters: character 4 is U+200D, zero width joiner"
SECONDS = "is not a number of seconds from 0 to 86400"
COUNT = "is not a whole number of at least 1"
NO_NUMBERS = "-1", "1_0", "two", "", "\x1b[31m", "9" * 5000
BAD_SECONDS = "nan", "inf", "-inf", "-0.1", "1e400", "86401", *NO_NUMBERS
BAD_COUNTS = "0", "1.5", "many", *NO_NUMBERS
REFUSED = [
    (["play", "--x", "a" * 100_000], "a name has 1 to 32 characters"),
    (["play", "--x", "bob", "--o", "\uff42\uff4f\uff42"], SAME_NAME),
    (["watch", "--x", "\u2764", "--o", "\u2764\ufe0f"], SAME_NAME),
    (["play", "--x", "bob\u200d"], JOINER),
    (["join", "http://127.0.0.1:9/", "--name", "bob\u200d"], JOINER),
    *[(["watch", f"--interval={seconds}"], SECONDS) for seconds in BAD_SECONDS],
    *[(["watch", f"--games={games}"], COUNT) for games in BAD_COUNTS],
]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [pytest.param(*case, id=ascii(" ".join(case[0]))[1:50]) for case in REFUSED],
)
def test_bad_arguments_are_refused(arguments: list[str], words: str) -> None:
    assert words in refused(*arguments)


@hostile
def test_a_hostile_argument_is_refused_with_escapes(harm: bytes) -> None:
    refused("play", b"--" + harm)
    refused("show", harm)
    assert "unknown command" in refused(harm)
    for option in ("--first", "--wording", "--color"):
        assert f"argument {option}: " in (refusal := refused("play", option, harm))
        assert " is not one of " in refusal


@hostile
def test_any_seed_will_do(harm: bytes) -> None:
    """A seed is any text or bytes, and the same one plays the same game."""
    played = [
        subprocess.run(
            [*COMMAND, "watch", "--interval", "0", "--seed", harm],
            capture_output=True,
            env=environment(),
            timeout=DEADLINE_SECONDS,
            check=False,
        )
        for _ in range(2)
    ]

    assert [(ran.returncode, ran.stderr) for ran in played] == 2 * [(0, b"")]
    assert played[0].stdout == played[1].stdout


# Encodings


@pytest.mark.parametrize(
    "command",
    [
        "",
        *["play", "watch", "show", "games", "resume", "replay", "events", "store"],
        "store verify",
    ],
)
def test_help_is_shown_in_ascii(command: str) -> None:
    ran = noughts(*command.split(), "--help", env=environment(PYTHONIOENCODING="ascii"))

    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith(f"usage: noughts {command}".rstrip())


def test_at_the_end_a_signal_just_ends_the_process() -> None:
    """Python still runs its own code then, and would show a traceback of ours in it."""
    script = (
        "import signal; from noughts.cli.exit import run_to_exit; run_to_exit(lambda: None);"
        "print(*(signal.getsignal(one) is signal.SIG_DFL for one in (signal.SIGINT, signal.SIGTERM)))"
    )

    ran = run_code(script, check=True)

    assert ran.stdout == "True True\n"


IN_A_CALLBACK = """
import signal, sys, threading, weakref
from noughts.cli.exit import run_to_exit

class Thing: pass

def work():
    thing = Thing()
    reference = weakref.ref(thing, lambda _: signal.raise_signal(int(sys.argv[1])))
    del thing
    threading.Event().wait(float(sys.argv[2]))

sys.exit(run_to_exit(work))
"""
"""Python drops what is raised in the callback of a weak reference, and every import has one."""


def _signal_in_a_callback(number: signal.Signals, wait_seconds: float) -> tuple[int, str, str]:
    ran = run_code(IN_A_CALLBACK, str(int(number)), str(wait_seconds))
    return ran.returncode, ran.stdout, ran.stderr


def test_a_signal_in_a_callback_ends_the_command() -> None:
    assert _signal_in_a_callback(signal.SIGINT, DEADLINE_SECONDS) == (130, "\nGoodbye!\n", "")
    assert _signal_in_a_callback(signal.SIGTERM, DEADLINE_SECONDS) == (143, "", "")


def test_a_signal_in_a_callback_just_before_the_end_does_no_harm() -> None:
    for _ in range(10):
        assert _signal_in_a_callback(signal.SIGINT, 0) in [(0, "", ""), (130, "\nGoodbye!\n", "")]


LOST_ALARM = """
import signal, sys, weakref
from noughts.cli.exit import run_to_exit

class Thing: pass

def work():
    alarm = {signal.SIGALRM}
    signal.pthread_sigmask(signal.SIG_BLOCK, alarm)
    thing = Thing()
    reference = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGINT))
    del thing
    signal.sigwait(alarm)  # as if it came just before the system call that waits
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, alarm)
        while True:
            signal.pause()
    finally:
        print(signal.getitimer(signal.ITIMER_REAL))
        signal.raise_signal(signal.SIGALRM)  # as if it came while the exception was raised
        print("left in order")

sys.exit(run_to_exit(work))
"""


def test_an_alarm_may_be_lost_and_none_comes_after_the_exception() -> None:
    ran = run_code(LOST_ALARM)

    assert (ran.returncode, ran.stderr) == (130, "")
    assert ran.stdout == "(0.0, 0.0)\nleft in order\n\nGoodbye!\n"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        *(
            (command, True)
            for command in ("certify --json", "odds --all --csv", "store export k7", "dataset")
        ),
        *((command, True) for command in ("store export", "store backup f --json", "watch --json")),
        *((command, False) for command in ("certify", "odds --all", "store backup f", "watch", "play")),
    ],
)
def test_data_ends_without_a_goodbye(command: str, *, expected: bool) -> None:
    """That Ctrl-C adds none to it is tested with `simulate` and `tournament`."""
    arguments = command.split()
    assert is_data(build_parser(arguments).parse_args(arguments)) is expected
