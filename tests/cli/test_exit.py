"""How the command ends, and how it answers what nobody can mean: in a sentence, not a traceback."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.command import COMMAND, environment
from support.forked import noughts
from support.pseudo_terminal import CTRL_C, CTRL_D, DEADLINE, Session, between_pipes, in_terminal

if TYPE_CHECKING:
    from collections.abc import Iterator

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

NAMES = {
    "nothing": b"",
    "only a space": b" ",
    "33 characters": b"a" * 33,
    "a hundred thousand characters": b"a" * 100_000,
}


def shell(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a shell script in which "$@" is the command."""
    return subprocess.run(
        ["/bin/sh", "-c", script, "sh", *COMMAND, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        env=environment(PYTHONUNBUFFERED=""),
        timeout=DEADLINE,
        check=False,
    )


def refused(*arguments: str | bytes) -> str:
    """Run the command, which must refuse its arguments in clean words, and return these."""
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
    """Start a game in a terminal, and play it from its first question on."""
    with in_terminal("play") as session:
        session.expect(f"{QUESTION} ")
        yield session


# Leaving a game


def test_ctrl_c_at_a_question_says_goodbye() -> None:
    """Ctrl-C where a move is asked for ends the line, says goodbye and exits with 130."""
    with asked() as session:
        before = session.output

        session.type(CTRL_C)

        assert session.end() == 130
        assert session.output == before + b"\r\nGoodbye!\r\n"


def test_ctrl_c_after_a_game_says_goodbye() -> None:
    """Ctrl-C where another game is offered does what it does everywhere."""
    with asked() as session:
        session.type("resign\n")
        session.expect(f"{AGAIN} ")
        before = session.output

        session.type(CTRL_C)

        assert session.end() == 130
        assert session.output == before + b"\r\nGoodbye!\r\n"


def test_a_second_ctrl_c_changes_nothing() -> None:
    """An impatient player who presses Ctrl-C many times gets no traceback either."""
    with asked() as session:
        session.type(20 * CTRL_C)

        assert session.end() == 130
        assert session.output.endswith(b"\r\nGoodbye!\r\n")


def test_ctrl_c_ends_a_long_pause() -> None:
    """Ctrl-C while two bots rest between moves ends the command at once."""
    with in_terminal("watch", "--interval", "60") as session:
        session.expect("Player X:")
        session.expect("-+-+-")

        session.type(CTRL_C)

        assert session.end() == 130
        assert session.output.endswith(b"\r\nGoodbye!\r\n")


def test_sigterm_at_a_question_ends_the_game() -> None:
    """SIGTERM ends the command with 143 and without an error."""
    with asked() as session:
        session.send(signal.SIGTERM)

        assert session.end() == 143
        assert b"Traceback" not in session.output


def test_sigterm_ends_a_long_pause() -> None:
    """SIGTERM while two bots rest between moves does not wait for the pause to be over."""
    with in_terminal("watch", "--interval", "60") as session:
        session.expect("Player X:")

        session.send(signal.SIGTERM)

        assert session.end() == 143


def test_sigterm_ends_a_command_that_nobody_reads() -> None:
    """SIGTERM ends the command even while it waits for a reader who has stopped reading."""
    reading, writing = os.pipe()
    size = fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    with subprocess.Popen(
        [*COMMAND, "watch", "--games", "100000", "--interval", "0"], stdout=writing, env=environment()
    ) as process:
        try:
            _wait_until_stuck(process, reading, size)

            process.send_signal(signal.SIGTERM)

            assert process.wait(DEADLINE / 4) == 143
        finally:
            process.kill()
            os.close(reading)
            os.close(writing)


def test_sigterm_ends_help_that_nobody_reads() -> None:
    """The same when all there is to say waits for a pipe that was full before."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with suppress(BlockingIOError):
        while True:
            os.write(writing, bytes(4096))
    os.set_blocking(writing, True)
    with subprocess.Popen([*COMMAND, "--help"], stdout=writing, env=environment()) as process:
        try:
            place = Path(f"/proc/{process.pid}/wchan")
            deadline = time.monotonic() + DEADLINE
            while "pipe_write" not in place.read_text():
                assert time.monotonic() < deadline, "the command never had to wait"

            process.send_signal(signal.SIGTERM)

            assert process.wait(DEADLINE / 4) == 143
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
        ran = subprocess.run(
            [sys.executable, "-c", INSIDE_THE_HOOK, *(str(int(one)) for one in (first, second, step))],
            capture_output=True,
            encoding="utf-8",
            env=environment(),
            timeout=DEADLINE,
            check=False,
        )

        assert ran.returncode in (128 + first, 128 + second), ran.stderr
        assert ran.stderr == ""
        is_over = ran.stdout.startswith("over")  # the hook has fewer steps than that
        assert step < 100, "the hook has no end"
    assert step > 3, "no signal arrived inside the hook"


def _wait_until_stuck(process: subprocess.Popen[bytes], pipe: int, size: int) -> None:
    """Wait until the pipe has no room for one more board, and the command rests on it."""
    status = Path(f"/proc/{process.pid}/stat")
    deadline = time.monotonic() + DEADLINE
    while _held(pipe) < size - 64 or status.read_text().rpartition(")")[2].split()[0] != "S":
        assert time.monotonic() < deadline, "the command never had to wait"


def _held(pipe: int) -> int:
    """Return how many bytes have been written to the pipe and not been read."""
    count: int = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]
    return count


def test_ctrl_d_says_goodbye() -> None:
    """Ctrl-D at a question ends the line, says goodbye and exits with 0."""
    with asked() as session:
        before = session.output

        session.type(CTRL_D)

        assert session.end() == 0
        assert session.output == before + b"\r\nGoodbye!\r\n"


def test_ctrl_d_after_a_game_says_goodbye() -> None:
    """Ctrl-D is an answer to the offer of another game, too."""
    with asked() as session:
        session.type("resign\n")
        session.expect(f"{AGAIN} ")

        session.type(CTRL_D)

        assert session.end() == 0
        assert session.output.endswith(f"{AGAIN} \r\nGoodbye!\r\n".encode())


def test_closing_the_terminal_ends_the_game() -> None:
    """A window that is closed takes the command with it."""
    with asked() as session:
        session.close()

        assert session.end() in (0, 128 + signal.SIGHUP)


def test_a_closed_terminal_is_noticed_before_the_signal_arrives() -> None:
    """Writing to it may fail first; the exit code is that of a hang-up all the same."""
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

        assert process.wait(DEADLINE) == 128 + signal.SIGHUP
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


def test_a_closed_terminal_is_left_well_wherever_the_signal_arrives() -> None:
    """What could not be written is given up, and never fails once more at the end of Python."""
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
            _, errors = process.communicate(timeout=DEADLINE)

        # Once everything is said the signal just ends the process.
        assert process.returncode in (128 + signal.SIGHUP, -signal.SIGHUP), errors
        is_over = errors == b"True\n"
        assert is_over or errors in (b"", b"False\n")
        assert step < 1000, "it never left"
    assert step > 10, "no signal arrived while it was leaving"


@pytest.mark.parametrize("word", ["quit", "QUIT", "  Quit\t"])
def test_quit_leaves_the_game(word: str) -> None:
    """The word quit leaves, however it is written."""
    ran = noughts("play", typed=f"{word}\n5\n")

    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == f"{EMPTY}{QUESTION}\nGoodbye!\n"


def test_quit_leaves_after_a_game() -> None:
    """The word quit is understood where another game is offered."""
    ran = noughts("play", typed="resign\nquit\n")

    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.endswith(f"{AGAIN}\nGoodbye!\n")


def test_the_end_of_input_says_goodbye() -> None:
    """A file or pipe that ends in mid-game ends the command cleanly."""
    ran = noughts("play", typed="5\n")

    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.endswith(f"{NEXT_QUESTION}\nGoodbye!\n")


def test_a_last_line_without_an_end_counts() -> None:
    """What stands before the end of input is a line, even without its line break."""
    ran = noughts("play", typed="5")

    assert (ran.returncode, ran.stderr) == (0, "")
    assert "4|X|6" in ran.stdout


# Streams that are shut, full or gone


def test_a_reader_who_leaves_is_told_nothing() -> None:
    """When the other end of its pipe closes, the command ends in silence, with 0."""
    script = '{ "$@"; echo "code $?" >&2; } | head -n 1'

    ran = shell(script, "watch", "--games", "1000", "--interval", "0", "--seed", "1")

    assert (ran.stdout, ran.stderr) == ("Player X:\n", "code 0\n")


def test_a_reader_who_leaves_a_game_is_told_nothing() -> None:
    """The same holds where somebody plays: the next board ends the command."""
    with between_pipes("play") as session:
        session.expect(QUESTION)

        session.stop_reading()
        session.type("5\n")

        assert session.end() == 0


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["show", "5"]], ids=" ".join)
def test_a_reader_who_never_came_is_told_nothing(arguments: list[str]) -> None:
    """Output into a pipe that nobody reads is no error, however little it is."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ran = subprocess.run(
            [*COMMAND, *arguments],
            stdout=writing,
            stderr=subprocess.PIPE,
            env=environment(PYTHONUNBUFFERED=""),
            timeout=DEADLINE,
            check=False,
        )
    finally:
        os.close(writing)

    assert (ran.returncode, ran.stderr) == (0, b"")


@pytest.mark.parametrize("arguments", [["play"], ["show", "5"], ["--help"], ["--version"]], ids=" ".join)
def test_a_full_disk_is_told_in_a_sentence(arguments: list[str]) -> None:
    """Output that cannot be written is an error of its own: 1, and one sentence."""
    ran = shell('"$@" > /dev/full', *arguments)

    assert (ran.returncode, ran.stderr) == (1, "noughts: cannot go on: No space left on device\n")


@pytest.mark.parametrize("arguments", [["bogus"], ["play", "--x", ""], ["show", "bogus"]], ids=" ".join)
def test_bad_usage_is_told_by_its_code_where_words_cannot_be(arguments: list[str]) -> None:
    """The exit code is 2 even if the sentence cannot be written."""
    assert shell('"$@" 2> /dev/full', *arguments).returncode == 2
    assert shell('"$@" 2>&-', *arguments).returncode == 2


def test_a_shut_input_is_the_end_of_input() -> None:
    """With no standard input at all, the game says goodbye."""
    ran = shell('"$@" <&-', "play")

    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == f"{EMPTY}{QUESTION}\nGoodbye!\n"


@pytest.mark.parametrize("shut", [">&-", "<&- >&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(
    "arguments", [["play"], ["watch", "--interval", "0"], ["show", "5"], ["--version"]]
)
def test_a_shut_output_is_no_error(arguments: list[str], shut: str) -> None:
    """With no standard output, what would be told is told to nobody."""
    ran = shell(f'"$@" {shut}', *arguments)

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def test_input_that_cannot_be_read_is_told_in_a_sentence() -> None:
    """A standard input that is open for writing only ends the game with a sentence."""
    ran = shell('"$@" 0> /dev/null', "play")

    assert ran.returncode == 1
    assert ran.stderr == "noughts: cannot go on: Bad file descriptor\n"


@pytest.mark.parametrize(
    "arguments", [["play"], ["watch", "--interval", "0.001"], ["show", "5"]], ids=" ".join
)
def test_many_open_files_are_no_error(arguments: list[str]) -> None:
    """A caller that hands down more than a thousand open files is served like any other."""
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", CROWDED, *COMMAND, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment(),
        timeout=DEADLINE,
        check=False,
    )

    assert (ran.returncode, ran.stderr) == (0, b"")


# Lines that nobody means


def _played_on(line: bytes) -> list[str]:
    """Type the line and then a cell; check that the game went on, and return what answered the line."""
    ran = noughts("play", typed=line + b"\n5\n")
    told = ran.stdout.removeprefix(f"{EMPTY}{QUESTION}\n")

    assert (ran.returncode, ran.stderr) == (0, "")
    assert told.endswith(f"{QUESTION}\n1|2|3\n-+-+-\n4|X|6\n-+-+-\n7|8|9\n{NEXT_QUESTION}\nGoodbye!\n")
    assert all(row.isprintable() for row in told.splitlines())
    return told.split(f"{QUESTION}\n", maxsplit=1)[0].splitlines()


@pytest.mark.parametrize("line", [b"\xff", b"\xc3", b"5\xff", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80"])
def test_a_line_that_is_no_utf8_is_answered(line: bytes) -> None:
    """Bytes that are no text are called so, and the game goes on."""
    assert _played_on(line) == ["Position is Invalid!", "That is not text: it is not UTF-8."]


@pytest.mark.parametrize(
    "line",
    ["\x1b[2J", "\x00", "5\x00", "\x7f", "\x9b31m", "\u202e5", "\u20665\u2069", "\u200b5", "\ufeff5"],
)
def test_a_line_of_control_characters_is_answered(line: str) -> None:
    """What would move a cursor or turn the direction of writing is refused, and not shown."""
    assert _played_on(line.encode()) == [
        "Position is Invalid!",
        "That is not plain text: it has characters that cannot be shown.",
    ]


def test_a_line_of_ten_megabytes_is_answered() -> None:
    """A line that long is refused as one line, however much of it there is."""
    assert _played_on(b"5" * 10_000_000) == [
        "Position is Invalid!",
        "A line has at most 1000 bytes, and this one has more.",
    ]


def test_a_long_line_is_not_held_in_memory(tmp_path: Path) -> None:
    """A line four times as long as all the memory there is gets the same answer."""
    memory = 128 << 20
    typed = tmp_path / "typed"
    with typed.open("wb") as file:
        file.truncate(4 * memory)
        file.seek(0, os.SEEK_END)
        file.write(b"\n5\n")

    with typed.open("rb") as stdin:
        ran = subprocess.run(
            [sys.executable, "-I", "-S", "-c", LIMITED, str(memory), *COMMAND, "play"],
            stdin=stdin,
            capture_output=True,
            env=environment(),
            timeout=DEADLINE,
            check=False,
        )

    assert (ran.returncode, ran.stderr) == (0, b"")
    assert b"A line has at most 1000 bytes" in ran.stdout
    assert b"4|X|6" in ran.stdout


@pytest.mark.parametrize(
    "line",
    [
        "0",
        "10",
        "-1",
        "5 5",
        "+5",
        "5.0",
        "\u0665",
        "\uff15",
        "\u00b2",
        "0,3",
        "d1",
        "a0",
        "five",
        "",
        " ",
        "{mark}",
    ],
)
def test_a_line_that_names_no_cell_is_answered(line: str) -> None:
    """What is no cell is quoted, and the three ways to name one are told."""
    invalid, sentence = _played_on(line.encode())

    assert invalid == "Position is Invalid!"
    assert sentence.endswith(
        "is not a cell: type 1 to 9, or row,column such as 0,2, or a1 to c3, or help."
    )


@hostile
def test_a_hostile_answer_to_the_offer_of_a_game_is_asked_again(harm: bytes) -> None:
    """Where yes or no is wanted, anything else is asked for once more, and not repeated."""
    ran = noughts("play", typed=b"resign\n" + harm + b"\nn\n")

    assert (ran.returncode, ran.stderr) == (0, "")
    assert "Please answer y or n.\n" in ran.stdout
    assert ran.stdout.endswith(f"{AGAIN}\nGoodbye!\n")
    assert all(row.isprintable() for row in ran.stdout.splitlines())


# Arguments that nobody means


@hostile
@pytest.mark.parametrize("seat", ["--x", "--o"])
def test_a_hostile_name_is_refused(seat: str, harm: bytes) -> None:
    """A name that a terminal would obey instead of show is refused, and named in words."""
    words = refused("play", seat, harm)

    assert re.search(r"a name can.* characters: character [12] is U\+[0-9A-F]{4}", words)
    assert "\\" not in words


@pytest.mark.parametrize("name", [pytest.param(name, id=why) for why, name in NAMES.items()])
def test_a_name_of_the_wrong_length_is_refused(name: bytes) -> None:
    """A name has 1 to 32 characters."""
    assert "a name has 1 to 32 characters" in refused("play", "--x", name)


def test_the_same_name_twice_is_refused() -> None:
    """The players have different names, compared in their composed form."""
    assert "different names" in refused("play", "--x", "Zo\u00eb", "--o", "Zoe\u0308")


@pytest.mark.parametrize(
    "arguments",
    [
        ["play", "--x", "Bob", "--o", "bob"],
        ["play", "--x", "bob", "--o", "\uff42\uff4f\uff42"],
        ["watch", "--x", "\u2764", "--o", "\u2764\ufe0f"],
        ["play", "--x", "player o"],
        ["play", "--o", "PLAYER X", "--wording", "kata"],
    ],
    ids=ascii,
)
def test_names_that_differ_in_case_or_form_only_are_refused(arguments: list[str]) -> None:
    """They are the same name; so is what somebody without a name is called."""
    assert "the players need different names, and '" in refused(*arguments)


@pytest.mark.parametrize("option", [["play", "--x"], ["join", "http://127.0.0.1:9/", "--name"]])
def test_an_invisible_character_in_a_name_is_named_in_words(option: list[str]) -> None:
    """Without an escape sequence."""
    words = refused(*option, "bob\u200d")

    assert "a name cannot contain invisible characters: character 4 is U+200D, zero width joiner" in words


def test_a_name_may_not_be_what_the_other_player_is_called() -> None:
    """One named player cannot pass for the other, who has no name."""
    assert "different names" in refused("play", "--x", "Player O")
    assert "different names" in refused("watch", "--o", "PLAYER X")
    assert noughts("play", "--x", "Player O", "--o", "Player X").returncode == 0


@hostile
def test_a_hostile_option_is_refused(harm: bytes) -> None:
    """An option that does not exist is named in escapes."""
    refused("play", b"--" + harm)


@hostile
@pytest.mark.parametrize("option", ["--first", "--wording", "--color"])
def test_a_hostile_choice_is_refused(option: str, harm: bytes) -> None:
    """A choice that does not exist is named in escapes."""
    assert "invalid choice" in refused("play", option, harm)


@hostile
def test_a_hostile_command_is_refused(harm: bytes) -> None:
    """A command that does not exist is named in escapes."""
    assert "invalid choice" in refused(harm)


@hostile
def test_a_hostile_board_is_refused(harm: bytes) -> None:
    """A board that cannot be read is quoted in escapes."""
    refused("show", harm)


@hostile
def test_any_seed_will_do(harm: bytes) -> None:
    """A seed is any text, or bytes that are none, and the same one plays the same game."""
    played = [
        subprocess.run(
            [*COMMAND, "watch", "--interval", "0", "--seed", harm],
            capture_output=True,
            env=environment(),
            timeout=DEADLINE,
            check=False,
        )
        for _ in range(2)
    ]

    assert [(ran.returncode, ran.stderr) for ran in played] == 2 * [(0, b"")]
    assert played[0].stdout == played[1].stdout


long_number = pytest.param("9" * 5000, id="5000 digits")


@pytest.mark.parametrize(
    "seconds",
    ["nan", "inf", "-inf", "-1", "-0.1", "1e400", "86401", "1_0", "two", "", "\x1b[31m", long_number],
)
def test_a_bad_interval_is_refused(seconds: str) -> None:
    """An interval is a number of seconds, from none to a day."""
    assert "is not a number of seconds from 0 to 86400" in refused("watch", f"--interval={seconds}")


@pytest.mark.parametrize("games", ["0", "-1", "1_0", "many", "1.5", "", "\x1b[31m", long_number])
def test_a_bad_number_of_games_is_refused(games: str) -> None:
    """The number of games is a whole one from 1 on."""
    assert "is not a whole number from 1 on" in refused("watch", f"--games={games}")


def test_a_bad_wording_is_refused() -> None:
    """A wording that does not exist is answered with those that do."""
    words = refused("play", "--wording", "haiku")

    assert all(wording in words for wording in ("narrative", "gem", "kata"))


def test_an_option_is_not_guessed_from_its_start() -> None:
    """An option is written in full, so that a new one never changes the meaning of an old line."""
    refused("play", "--word", "gem")


def test_no_command_at_all_is_refused() -> None:
    """It is told that one is wanted, and where they are told; there they all are."""
    assert refused() == (
        "noughts: the following arguments are required: COMMAND\nTry 'noughts --help'.\n"
    )

    told = noughts("--help").stdout
    commands = ("play", "watch", "show", "games", "resume", "replay", "events", "export", "store")
    assert all(f"\n    {command} " in told for command in commands)


# Letters that a terminal does not have


def test_a_name_beyond_ascii_is_shown_in_the_c_locale() -> None:
    """The plain C locale is no reason to refuse a name."""
    ran = noughts("play", "--x", "Zoë", env=environment(LC_ALL="C"))

    assert (ran.returncode, ran.stderr) == (0, "")
    assert "Zoë, enter a position from 1 to 9:\n" in ran.stdout


def test_a_name_that_output_cannot_encode_is_escaped() -> None:
    """Where output has no letter for a name, it is shown in escapes and the game goes on."""
    ran = noughts("play", "--x", "Zoë", typed="5\n", env=environment(PYTHONIOENCODING="ascii"))

    assert (ran.returncode, ran.stderr) == (0, "")
    assert "Zo\\xeb, enter a position from 1 to 9:\n" in ran.stdout
    assert "4|X|6" in ran.stdout


@pytest.mark.parametrize(
    "command",
    [
        "",
        *["play", "watch", "show", "games", "resume", "replay", "events", "export", "store"],
        "store verify",
    ],
)
def test_help_is_shown_where_there_are_few_letters(command: str) -> None:
    """Help is for everybody, and output that has only the plainest letters is no reason to refuse it."""
    ran = noughts(*command.split(), "--help", env=environment(PYTHONIOENCODING="ascii"))

    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith(f"usage: noughts {command}".rstrip())


def test_a_line_that_output_cannot_encode_is_escaped() -> None:
    """What was typed is quoted in escapes where output has no letters for it."""
    ran = noughts("play", typed="Zoë\n", env=environment(PYTHONIOENCODING="ascii"))

    assert (ran.returncode, ran.stderr) == (0, "")
    assert "zo\\xeb' is not a cell" in ran.stdout


def test_a_signal_that_comes_when_all_is_told_just_ends_the_process() -> None:
    """Python still runs code of its own then, and would show a traceback of ours in it."""
    script = (
        "import signal; from noughts.cli.exit import run_to_exit; run_to_exit(lambda: None);"
        "print(*(signal.getsignal(one) is signal.SIG_DFL for one in (signal.SIGINT, signal.SIGTERM)))"
    )

    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)

    assert ran.stdout == "True True\n"


@pytest.mark.parametrize(
    ("number", "code", "told"), [(signal.SIGINT, 130, "\nGoodbye!\n"), (signal.SIGTERM, 143, "")]
)
def test_a_signal_that_comes_where_no_exception_gets_out_is_heard_all_the_same(
    number: signal.Signals, code: int, told: str
) -> None:
    """Python drops what is raised in a weak reference's callback, and every import has one."""
    script = (
        "import os, signal, sys, threading, weakref\n"
        "from noughts.cli.exit import run_to_exit\n"
        "class Thing: pass\n"
        "def work():\n"
        "    thing = Thing()\n"
        f"    reference = weakref.ref(thing, lambda _: signal.raise_signal({int(number)}))\n"
        "    del thing\n"
        f"    threading.Event().wait({DEADLINE})\n"
        "sys.exit(run_to_exit(work))"
    )

    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)

    assert (ran.returncode, ran.stdout, ran.stderr) == (code, told, "")


def test_a_signal_that_comes_where_no_exception_gets_out_and_then_it_is_over_changes_nothing() -> None:
    """There is no work left to end: the command leaves as it would have, or as if interrupted."""
    script = (
        "import signal, sys, weakref\n"
        "from noughts.cli.exit import run_to_exit\n"
        "class Thing: pass\n"
        "def work():\n"
        "    thing = Thing()\n"
        "    reference = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGINT))\n"
        "    del thing\n"
        "sys.exit(run_to_exit(work))"
    )

    for _ in range(10):
        ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)

        assert (ran.returncode, ran.stdout, ran.stderr) in [(0, "", ""), (130, "\nGoodbye!\n", "")]
