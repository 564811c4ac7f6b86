"""Programs as players: real processes, most of them hostile; none is left behind."""

from __future__ import annotations

import os
import select
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from errno import EAGAIN, EMFILE, ENFILE, ENOMEM
from pathlib import Path
from random import Random

import pytest

from noughts import Board, Mark, O, X, errors, parse_board, play_game, reachable
from noughts.bots import program
from noughts.bots.errors import CannotStartProgram
from noughts.bots.program import Program, Wait, poll
from noughts.core.errors import quoted
from support.hostile_bots import (
    AT_ONCE,
    CHILD_THAT_STAYS,
    ENDLESS_COMPLAINTS,
    POLITE,
    TOO_LONG,
    WITHOUT_AN_ANSWER,
    Started,
    command,
    greets,
    plays,
)

pytestmark = pytest.mark.thorough

PATIENT = 30.0
"""Seconds, for what will come."""
IMPATIENT = 0.3
"""Seconds, for what never comes."""

EXAMPLES = Path(__file__).parents[2] / "examples"
IN_PYTHON = shlex.join([sys.executable, str(EXAMPLES / "bot.py")])
IN_SHELL = shlex.join(["sh", str(EXAMPLES / "bot.sh")])


class Watch:
    """Watches processes: which were started, and whether they and their children are gone.

    Each inherits the writing end of a named pipe; the pipe hangs up when none of them is left.
    """

    def __init__(self, pipe: Path, started: Started) -> None:
        self.started = started
        self.pipe = pipe
        self._open_before = open_files()
        os.mkfifo(pipe)
        self._reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        self._writing = os.open(pipe, os.O_WRONLY)

    def watched(self, line: str) -> str:
        """Return the command, run with the pipe open."""
        return shlex.join(["sh", "-c", f'exec 9>"$0"; exec {line}', str(self.pipe)])

    def start(self, code: str, *arguments: object, wait: Wait = poll) -> Program:
        """Start a watched program in Python."""
        return Program(self.watched(command(code, *arguments)), PATIENT, wait)

    def close(self) -> None:
        """Check that all processes are gone and reaped, and that no file of ours is left open."""
        os.close(self._writing)
        left = select.poll()
        left.register(self._reading, 0)  # a hang-up is always reported
        gone = left.poll(1000 * PATIENT)
        os.close(self._reading)
        assert gone, "a process is left"
        for process in self.started:
            with pytest.raises(ChildProcessError):
                os.waitpid(process.pid, os.WNOHANG)
        assert open_files() == self._open_before


def open_files() -> int:
    """Return how many files this process has open."""
    return len(list(Path("/dev/fd").iterdir()))


@pytest.fixture
def watch(tmp_path: Path, started: Started, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watch]:
    """Watch all processes of a test, and check afterwards that none is left."""
    monkeypatch.setattr(program, "EXIT_TIMEOUT_SECONDS", PATIENT)
    watch = Watch(tmp_path / "alive", started)
    yield watch
    watch.close()


@pytest.fixture
def hurry(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give programs little time to exit: these never would."""
    assert watch.started == []
    monkeypatch.setattr(program, "EXIT_TIMEOUT_SECONDS", IMPATIENT)


def refused(line: str, patience: float = PATIENT) -> str:
    """Return why a program cannot start to play; its process has ended."""
    with pytest.raises(errors.Forfeit) as forfeit:
        Program(line, patience)
    return checked(forfeit.value)


def forfeited(program: Program, board: Board | None = None) -> str:
    """Return why a program forfeited when it was asked for a move."""
    with pytest.raises(errors.Forfeit) as forfeit:
        program.choose(board or Board())
    return checked(forfeit.value)


def checked(forfeit: errors.Forfeit) -> str:
    """Check that a reason is short and safe to print."""
    sentence = str(forfeit)
    assert sentence.isprintable()
    assert len(sentence) < 300
    return sentence


def check_reaped(started: Started, count: int = 1) -> None:
    """Check that this many processes were started, and that all were reaped."""
    assert len(started) == count
    for process in started:
        assert process.returncode is not None
        with pytest.raises(ChildProcessError):
            os.waitpid(process.pid, os.WNOHANG)


# Programs that cannot be started

NOT_FOUND = "cannot be started: No such file or directory"
CANNOT_START = {
    **dict.fromkeys(("", " ", "\t\n"), "program: needs a command, such as program:./mybot"),
    "./bot 'of mine": '"./bot \'of mine" is not a command: No closing quotation',
    './bot "of mine': "'./bot \"of mine' is not a command: No closing quotation",
    "./bot \\": "'./bot \\\\' is not a command: No escaped character",
    "./no-such-bot --level 3": f"'./no-such-bot' {NOT_FOUND}",
    "no-such-bot-anywhere": f"'no-such-bot-anywhere' {NOT_FOUND}",
    "''": "'' cannot be started: Permission denied",
    "bo\0t": "'bo\\x00t' cannot be started: it is not a valid name",
    "echo \0": "'echo' cannot be started: it is not a valid name",
    "\ud800": "'\\ud800' cannot be started: it is not a valid name",
    f"echo {'x' * 200_000}": "'echo' cannot be started: Argument list too long",
}


@pytest.mark.parametrize("line", CANNOT_START, ids=lambda line: repr(line[:12]))
def test_a_command_that_cannot_be_started_is_refused(line: str, watch: Watch) -> None:
    assert refused(line) == CANNOT_START[line]
    assert watch.started == []


@pytest.mark.usefixtures("watch")
def test_a_file_that_is_not_a_program_is_refused(tmp_path: Path) -> None:
    bot = tmp_path / "bot"
    for path, text, mode, why in (
        (bot, "#!/bin/sh\n", 0o644, "Permission denied"),
        (tmp_path, "", 0o644, "Permission denied"),
        (bot, "\x00\x01", 0o755, "Exec format error"),
        (bot, "#!/no/such/thing\n", 0o755, "No such file or directory"),
    ):
        bot.write_text(text)
        bot.chmod(mode)
        assert refused(shlex.quote(str(path))).endswith(f"cannot be started: {why}")


@pytest.mark.usefixtures("watch")
@pytest.mark.parametrize("number", [EMFILE, ENFILE, EAGAIN, ENOMEM])
def test_a_program_that_the_system_cannot_start_has_not_lost(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system has no room for more files or processes: that is not a forfeit."""

    def full(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(subprocess, "Popen", full)
    with pytest.raises(CannotStartProgram) as refused:
        Program("./mybot")
    assert str(refused.value) == f"no program can be started now: {os.strerror(number)}"


# Programs that misbehave at once, or in the middle of a game

HAS_BEGUN = ("stops in a line", "ignores every signal")
MISBEHAVIOURS: dict[str, tuple[str, str, float]] = {
    **{kind: (code, why, PATIENT) for kind, (code, why) in AT_ONCE.items()},
    **{
        kind: (code, "did not end its line" if kind in HAS_BEGUN else "did not answer", IMPATIENT)
        for kind, code in WITHOUT_AN_ANSWER.items()
    },
    **{kind: (code, "wrote more than 1000 bytes in a line", PATIENT) for kind, code in TOO_LONG.items()},
}
"""What a program does, the reason why it loses, and how long it is waited for."""


@pytest.mark.parametrize("kind", MISBEHAVIOURS)
def test_a_program_that_misbehaves_at_once_has_lost(kind: str, watch: Watch) -> None:
    code, why, patience = MISBEHAVIOURS[kind]
    line = watch.watched(command(code))

    assert refused(line, patience) == f"{quoted(line)} {why}{' within 0.3 s' * (patience == IMPATIENT)}"
    check_reaped(watch.started)


@pytest.mark.parametrize("kind", MISBEHAVIOURS)
def test_a_program_that_misbehaves_in_a_game_has_lost(
    kind: str, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reported under its own name; it is killed, with everything it started."""
    code, why, patience = MISBEHAVIOURS[kind]
    with watch.start(plays(code if kind != "is not a program" else f"exec({code!r})")) as program:
        program.new_game(X)
        monkeypatch.setattr(program, "_patience", patience)  # it had all the time to say its name
        assert forfeited(program) == f"hostile {why}{' within 0.3 s' * (patience == IMPATIENT)}"
        check_reaped(watch.started)


NOT_NAMES = [
    *(b"", b"name", b"name ", b"name    ", b"named bot", b"NAME bot", b" name bot", b"name\tbot"),
    *(b"hello", b"move 5", b"resign", b"name \x1b[2J", b"name b\x00t", b"name bot\rbot"),
    *(b"name \xe2\x80\x8b", b"name \xe2\xa0\x80", b"name " + b"a" * 33, b"name " + b"a" * 995),
    *(bytes(range(256)), b"\xff\xfe\xfd"),
]


@pytest.mark.parametrize("said", NOT_NAMES, ids=lambda said: repr(said[:16]))
def test_a_bad_name_is_refused(said: bytes, watch: Watch) -> None:
    line = watch.watched(command(f"read(); os.write(1, {said!r} + b'\\n'); wait()"))
    first = said.split(b"\n")[0].decode("utf-8", "replace")

    assert refused(line) == f"{quoted(line)} answered {quoted(first)} instead of 'name' and a name"
    check_reaped(watch.started)


ANSWERS = {
    "answered {} instead of 'move 1' to 'move 9' or 'resign'": [
        *(b"", b" ", b"5", b"Move 5", b"MOVE 5", b" move 5", b"move\t5", b"name hostile", b"resign now"),
        *(b"Resign", b"bye", b"\x1b[2J", b"\xff", b"\x00\x00", bytes(range(256))),
    ],
    "answered {}, but cells are 1 to 9": [
        *(b"move", b"move ", b"move 0", b"move 10", b"move x", b"move -1", b"move 1 2", b"move \xff")
    ],
}


@pytest.mark.parametrize(
    ("why", "said"),
    [(why, said) for why, answers in ANSWERS.items() for said in answers],
    ids=lambda value: repr(value[:12]),
)
def test_an_answer_that_is_not_a_move_has_lost(why: str, said: bytes, watch: Watch) -> None:
    first = quoted(said.split(b"\n")[0].decode("utf-8", "replace"))
    with watch.start(plays(f"os.write(1, {said!r} + b'\\n'); wait()")) as program:
        assert forfeited(program) == f"hostile {why.format(first)}"
        check_reaped(watch.started)


@pytest.mark.parametrize("mark", Mark)
def test_a_move_to_a_taken_cell_has_lost(mark: Mark, watch: Watch) -> None:
    board = parse_board("X__/_O_/___") if mark is X else parse_board("X__/_O_/__X")
    with watch.start(plays("write('move 5'); wait()")) as program:
        program.new_game(mark)
        assert forfeited(program, board) == (
            f"hostile answered 'move 5', which is illegal: cell 5 holds O in '{board}'"
        )
        check_reaped(watch.started)


def test_endless_lines_have_lost(watch: Watch) -> None:
    line = watch.watched("yes")
    assert refused(line) == f"{quoted(line)} answered 'y' instead of 'name' and a name"
    check_reaped(watch.started)
    with Program(watch.watched("sh -c 'echo name hostile; exec yes'"), PATIENT) as program:
        with pytest.raises(errors.Forfeit) as forfeit:
            play_game(program, program)
        assert checked(forfeit.value).startswith(
            ("hostile answered 'y' instead of", "hostile wrote without")
        )
        check_reaped(watch.started, 2)


@pytest.mark.usefixtures("hurry")
def test_a_program_that_closes_its_output_has_lost(watch: Watch) -> None:
    """At once, with what it complained of, or in the middle of a game."""
    line = watch.watched(command("os.write(2, b'tired\\n'); os.close(1); wait()"))
    assert refused(line) == f"{quoted(line)} closed its output, complaining: 'tired'"
    check_reaped(watch.started)
    with watch.start(plays("os.close(1); wait()")) as program:
        assert forfeited(program) == "hostile closed its output"
        check_reaped(watch.started, 2)


@pytest.mark.usefixtures("hurry")
def test_complaints_without_end_are_not_read_without_end(watch: Watch) -> None:
    line = watch.watched(command(f"os.write(2, b'oh no'); os.close(1)\n{ENDLESS_COMPLAINTS}"))

    assert refused(line).startswith(f"{quoted(line)} closed its output, complaining: '")
    check_reaped(watch.started)


def test_a_child_that_complains_without_end_does_not_hide_how_the_program_ended(
    watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "EXIT_TIMEOUT_SECONDS", 1.0)
    code = f"os.write(2, b'oh no')\nif os.fork(): os._exit(7)\nos.close(1)\n{ENDLESS_COMPLAINTS}"
    line = watch.watched(command(code))

    assert refused(line).startswith(f"{quoted(line)} ended with exit code 7, complaining: '")
    check_reaped(watch.started)


def test_a_program_that_has_gone_between_two_moves_has_lost(watch: Watch) -> None:
    with watch.start(plays("write('move 1'); sys.exit(5)")) as program:
        program.new_game(X)
        assert program.choose(Board()) == 0
        assert os.waitid(os.P_PID, watch.started[0].pid, os.WEXITED | os.WNOWAIT)
        assert forfeited(program, parse_board("X__/_O_/___")) == "hostile ended with exit code 5"
        check_reaped(watch.started)


def test_a_program_that_does_not_read_has_lost(watch: Watch) -> None:
    with watch.start(greets("wait()")) as program:
        with pytest.raises(errors.Forfeit) as forfeit:
            list(map(program.new_game, [X] * 1_000_000))  # far more than a pipe can hold
        assert str(forfeit.value) == "hostile does not read its input"
        check_reaped(watch.started)


@pytest.mark.parametrize("more", ["hello", "\\n", "move 5\\n", "move 5\\nmove 6\\n", "\\x1b[2J"])
def test_unexpected_output_forfeits(more: str, watch: Watch) -> None:
    """What it said together with its name is not an answer."""
    code = f"read(); os.write(1, b'name hostile\\n{more}'); wait()"
    with watch.start(code) as program:
        with pytest.raises(errors.Forfeit) as forfeit:
            program.new_game(X)
        said = more.encode().decode("unicode-escape")
        assert checked(forfeit.value) == f"hostile wrote without being asked: {quoted(said)}"
        check_reaped(watch.started)


def test_a_second_move_is_one_too_many(watch: Watch) -> None:
    code = plays("write('move 1\\nmove 2'); wait()")
    with watch.start(code) as program:
        assert program.choose(Board()) == 0
        assert forfeited(program, parse_board("X__/_O_/___")) == (
            "hostile wrote without being asked: 'move 2\\n'"
        )
        check_reaped(watch.started)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("for line in sys.stdin:\n    if line.startswith('new'): write('move 1')", "move 1"),
        ("for line in sys.stdin:\n    if line.startswith('new'): os.write(1, b'mo')", "mo"),
    ],
)
def test_output_before_the_question_is_not_an_answer(code: str, said: str, watch: Watch) -> None:
    """However late: whatever is in the pipe before the question was not asked for."""
    sources: list[int] = []

    def wait(open_ones: Iterable[int], seconds: float) -> list[int]:
        sources[:] = open_ones
        return poll(sources, seconds)

    with watch.start(greets(code), wait=wait) as program:
        program.new_game(X)
        poll(sources, PATIENT)  # by now it has written
        assert forfeited(program).startswith(f"hostile wrote without being asked: '{said}")
        check_reaped(watch.started)


# Programs that are started again


@pytest.mark.parametrize("announced", [True, False])
def test_after_a_forfeit_the_program_is_started_again(announced: bool, watch: Watch) -> None:  # noqa: FBT001 - a parameter of the test
    with watch.start(plays("write('move 10'); wait()")) as program:
        for games in (1, 2, 3):
            if announced:
                program.new_game(X)
            assert forfeited(program).startswith("hostile answered 'move 10'")
            check_reaped(watch.started, games)
    assert len({process.pid for process in watch.started}) == 3


def test_a_restarted_program_may_do_better(watch: Watch, tmp_path: Path) -> None:
    code = (
        f"if not os.path.exists(sys.argv[1]):\n"
        f"    open(sys.argv[1], 'w').close()\n"
        f"    read()\n"
        f"    write('name rude')\n"
        f"    sys.exit()\n{POLITE}"
    )
    with watch.start(code, tmp_path / "lived") as program:
        assert program.name == "rude"
        program.new_game(X)
        assert forfeited(program) == "rude ended with exit code 0"
        program.new_game(X)
        assert program.name == "polite"
        assert program.choose(Board()) == 0
    check_reaped(watch.started, 2)


def test_a_program_that_cannot_be_started_again(watch: Watch, tmp_path: Path) -> None:
    bot = tmp_path / "bot"
    bot.write_text(f"#!/bin/sh\n{command(plays('sys.exit(1)'))}\n")
    bot.chmod(0o755)
    program = Program(shlex.quote(str(bot)), PATIENT)
    assert forfeited(program) == "hostile ended with exit code 1"
    bot.unlink()

    with pytest.raises(errors.Forfeit, match="cannot be started: No such file or directory"):
        program.new_game(X)
    check_reaped(watch.started)


# Programs that are ended


@pytest.mark.parametrize(
    "code", [POLITE + "sys.exit(6)", greets("while sys.stdin.readline(): pass\nsys.exit(6)")]
)
def test_a_program_may_exit_by_itself(code: str, watch: Watch) -> None:
    """After `bye`, or at the end of its input, with its own exit code."""
    watch.start(code).close()

    check_reaped(watch.started)
    assert watch.started[0].returncode == 6


@pytest.mark.usefixtures("hurry")
@pytest.mark.parametrize(
    "code",
    [
        "wait()",
        "os.close(0); wait()",
        "signal.signal(signal.SIGTERM, signal.SIG_IGN); wait()",
        "os.kill(os.getpid(), signal.SIGSTOP)",
        "while True: os.write(1, b'no\\n')",
        ENDLESS_COMPLAINTS,
        CHILD_THAT_STAYS + "sys.exit()",
        "while True: pass",
        "os.write(1, b'never' * 100); wait()",
    ],
)
def test_a_program_that_does_not_exit_is_killed(code: str, watch: Watch) -> None:
    watch.start(greets(code)).close()
    check_reaped(watch.started)


def test_a_program_that_closed_its_output_is_ended_at_once(watch: Watch) -> None:
    code = greets("os.close(1); wait()")
    watch.start(code).close()
    check_reaped(watch.started)


def test_a_child_that_stays_behind_goes_with_the_program(watch: Watch) -> None:
    child = (
        "if not os.fork():\n"
        "    for pipe in (0, 1, 2): os.close(pipe)\n"
        "    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "    signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "    wait()\n"
    )
    with watch.start(child + POLITE) as program:
        assert program.choose(Board()) == 0
    check_reaped(watch.started)


def test_a_program_is_closed_as_often_as_one_likes(watch: Watch) -> None:
    program = watch.start(POLITE)
    program.close()
    program.close()
    check_reaped(watch.started)

    fallen = watch.start(plays("sys.exit()"))
    forfeited(fallen)
    fallen.close()
    check_reaped(watch.started, 2)


def test_an_error_ends_the_program_too(watch: Watch) -> None:
    with pytest.raises(RuntimeError, match="lights"), watch.start(POLITE):
        raise RuntimeError("the lights went out")
    check_reaped(watch.started)


# Programs that play


def test_what_is_sent_to_a_program(watch: Watch, tmp_path: Path) -> None:
    """The protocol, the mark, the position and the mark to move, and goodbye."""
    log = tmp_path / "log"
    code = POLITE.replace("words = line.split()", "words = line.split(); log.write(line); log.flush()")
    line = watch.watched(command("log = open(sys.argv[1], 'w')\n" + code, log))
    with Program(line, PATIENT) as program:
        program.new_game(O)
        program.choose(parse_board("____X____"))
        program.new_game(X)
        program.choose(Board(first=O).place(0))

    assert log.read_text().splitlines() == [
        "noughts 1",
        "new O",
        "position ___/_X_/___ O",
        "new X",
        "position O__/___/___ X",
        "bye",
    ]


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("name bot", "bot"),
        ("name  Deep Nought 2.0 ", "Deep Nought 2.0"),
        ("name " + "a" * 32, "a" * 32),
        ("name Zoe\u0308 \u540d\u524d", "Zo\u00eb \u540d\u524d"),
        ("name name", "name"),
    ],
)
def test_a_program_says_its_name(said: str, name: str, watch: Watch) -> None:
    with watch.start(f"read(); write({said!r}); read()") as program:
        assert program.name == name


@pytest.mark.parametrize(
    ("said", "cell"), [("5", 4), ("1", 0), ("9", 8), ("b2", 4), ("1,2", 5), (" 5 ", 4)]
)
def test_a_program_says_its_moves_as_people_do(said: str, cell: int, watch: Watch) -> None:
    with watch.start(plays(f"write('move {said}'); read()")) as program:
        assert program.choose(Board()) == cell


def test_lines_may_end_as_elsewhere(watch: Watch) -> None:
    code = (
        "read(); write('name elsewhere\\r')\n"
        "while read()[0] != 'position': pass\n"
        "write('move 5\\r')\n"
        "read(); write('resign\\r'); read()"
    )
    with watch.start(code) as program:
        assert program.name == "elsewhere"
        program.new_game(X)
        assert program.choose(Board()) == 4
        assert program.choose_or_resign(parse_board("O___X____")) is None


def test_a_line_may_come_in_pieces(watch: Watch) -> None:
    code = (
        "def write(line):\n"
        "    for sign in line + '\\n':\n"
        "        os.write(1, sign.encode())\n"
        "        os.write(2, b'.')\n" + POLITE
    )
    with watch.start(code) as program:
        assert program.name == "polite"
        assert program.choose(Board()) == 0


def test_a_line_may_have_a_thousand_bytes(watch: Watch) -> None:
    with watch.start(plays("write('x' * 1000); wait()")) as program:
        assert forfeited(program).startswith("hostile answered 'xxx")


def test_a_program_resigns(watch: Watch) -> None:
    """This is not a forfeit: it stays for the next game."""
    code = "read(); write('name meek')\nfor line in sys.stdin:\n    'pos' in line and write('resign')"
    with watch.start(code) as program:
        for mark in (X, O, X):
            program.new_game(mark)
            assert program.choose_or_resign(Board(first=mark)) is None
        assert len(watch.started) == 1


def test_a_program_may_complain_as_much_as_it_likes_while_it_answers(watch: Watch) -> None:
    code = POLITE.replace("words = line.split()", "words = line.split(); os.write(2, b'x' * 500_000)")
    with watch.start(code) as program:
        for _ in range(3):
            assert program.choose(Board()) == 0
    check_reaped(watch.started)


@pytest.mark.usefixtures("hurry")
def test_a_child_of_the_program_may_complain_without_end(watch: Watch) -> None:
    code = f"if not os.fork():\n    {ENDLESS_COMPLAINTS}\n" + POLITE
    with watch.start(code) as program:
        assert [program.choose(Board()) for _ in range(5)] == [0] * 5
    check_reaped(watch.started)


def test_a_program_runs_in_a_session_of_its_own(watch: Watch) -> None:
    """Ctrl-C reaches us alone."""
    code = "read(); write('name alone' if os.getsid(0) == os.getpid() else 'name crowded'); read()"
    with watch.start(code) as program:
        assert program.name == "alone"


def test_a_program_gets_its_arguments(watch: Watch) -> None:
    code = "read(); write('name ' + '+'.join(sys.argv[1:])); read()"
    line = f"{command(code)} one 'two three' \"four\""
    with Program(watch.watched(line), PATIENT) as program:
        assert program.name == "one+two three+four"
    with Program(line, PATIENT) as program:
        assert program.name == "one+two three+four"


def test_programs_do_not_get_in_each_others_way(watch: Watch) -> None:
    rude = watch.start(plays("write('move 0'); wait()"))
    with watch.start(POLITE) as polite:
        forfeited(rude)
        assert polite.choose(Board()) == 0
    check_reaped(watch.started, 2)


# Waiting


def test_a_waiting_function_may_do_other_things(watch: Watch) -> None:
    """It gets descriptors and seconds, and may return none that can be read."""
    asked: list[tuple[int, float]] = []

    def wait(sources: Iterable[int], seconds: float) -> list[int]:
        found = list(sources)
        asked.append((len(found), seconds))
        return poll(found, seconds) if len(asked) % 2 else []

    with watch.start(POLITE, wait=wait) as program:
        assert program.choose(Board()) == 0
    assert len(asked) > 2
    assert all(1 <= count <= 2 and 0 <= seconds <= PATIENT for count, seconds in asked)


def test_a_descriptor_that_cannot_be_read_is_waited_for_again(watch: Watch) -> None:
    def wait(sources: Iterable[int], seconds: float) -> list[int]:
        found = list(sources)
        poll(found, seconds)
        return found

    with watch.start(POLITE, wait=wait) as program:
        assert program.choose(Board()) == 0
    check_reaped(watch.started)


def test_an_interrupt_while_waiting_ends_the_program_in_the_end(watch: Watch) -> None:
    """It is let through."""
    interrupts = [signal.Signals.SIGINT]

    def wait(sources: Iterable[int], seconds: float) -> list[int]:
        if program_is_named and interrupts:
            raise KeyboardInterrupt(interrupts.pop())
        return poll(sources, seconds)

    program_is_named = False
    program = watch.start(greets("read(); sys.stdin.read()"), wait=wait)
    program_is_named = True
    with pytest.raises(KeyboardInterrupt), program:
        program.choose(Board())
    check_reaped(watch.started)


def test_an_interrupt_while_closing_ends_the_program(watch: Watch) -> None:
    def wait(sources: Iterable[int], seconds: float) -> list[int]:
        if program_is_named:
            raise KeyboardInterrupt
        return poll(sources, seconds)

    program_is_named = False
    program = watch.start(greets("wait()"), wait=wait)
    program_is_named = True
    with pytest.raises(KeyboardInterrupt):
        program.close()
    check_reaped(watch.started)


def test_polling_returns_what_can_be_read() -> None:
    reading, writing = os.pipe()
    other_reading, other_writing = os.pipe()
    try:
        assert poll([reading, other_reading], 0) == []
        assert poll([reading], -1) == []
        os.write(other_writing, b"x")
        assert poll([reading, other_reading], PATIENT) == [other_reading]
        os.close(writing)
        assert poll([reading], PATIENT) == [reading]
        assert poll([], 0) == []
    finally:
        for number in (reading, other_reading, other_writing):
            os.close(number)


def test_a_program_has_five_seconds_for_an_answer() -> None:
    assert program.ANSWER_TIMEOUT_SECONDS == 5.0


# The examples


def test_the_examples_play_whole_games_against_each_other(watch: Watch) -> None:
    """By the names of the documents, in either seat, without being started again."""
    with Program(IN_PYTHON, PATIENT) as python, Program(IN_SHELL, PATIENT) as shell:
        assert (python.name, shell.name) == ("chance", "first")
        for _ in range(10):
            assert play_game(python, shell).is_over
            assert play_game(shell, python).is_over
        assert str(play_game(shell, shell).board) == "XOX/OXO/X__"
        assert len({play_game(python, python) for _ in range(100)}) > 20
    assert [process.returncode for process in watch.started] == [0, 0]


@pytest.mark.usefixtures("watch")
def test_the_example_in_python_answers_every_position() -> None:
    with Program(IN_PYTHON, PATIENT) as python:
        for first in Mark:
            for board in reachable(first):
                if not board.is_over:
                    assert python.choose(board) in board.free_cells


@pytest.mark.usefixtures("watch")
def test_the_example_in_a_shell_takes_the_first_free_cell() -> None:
    by_count: dict[int, list[Board]] = {}
    for board in (*reachable(X), *reachable(O)):
        if not board.is_over:
            by_count.setdefault(board.count, []).append(board)
    with Program(IN_SHELL, PATIENT) as shell:
        for count in range(9):
            boards = by_count[count]
            for board in Random(count).sample(boards, min(18, len(boards))):
                assert shell.choose(board) == board.free_cells[0]


def test_an_interrupt_while_it_is_started_ends_the_program(tmp_path: Path) -> None:
    """It could not be closed yet."""
    log = tmp_path / "pid"

    def wait(_: Iterable[int], __: float) -> list[int]:
        while not (log.exists() and log.read_text().endswith("\n")):
            pass
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Program(f"""sh -c 'echo $$ > "$0"; exec sleep 20' {log}""", 30.0, wait)
    number = int(log.read_text())
    try:
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)
    finally:
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)


def test_a_program_that_ends_has_lost_even_if_nobody_waits_for_children() -> None:
    """Our parent process may ignore SIGCHLD, and that is inherited."""
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        with pytest.raises(errors.Forfeit):
            Program("false", 30.0)
    finally:
        signal.signal(signal.SIGCHLD, before)
