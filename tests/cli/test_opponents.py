"""Who plays: people, bots and programs, in games that are played, watched and resumed."""

from __future__ import annotations

import os
import random
import select
import sys
from pathlib import Path

import pytest

from noughts import Mark, O, open_store
from noughts.bots.registry import policy_names
from support.deadlines import DEADLINE_SECONDS
from support.forked import noughts
from support.hostile_bots import POLITE, greets, plays, program
from support.pseudo_terminal import CTRL_C, in_terminal
from support.saved_games import asked, digits, drawn, file, save, saving, url
from support.third_party_bots import offered

ROOT = Path(__file__).parents[2]
FIRST_FREE = program(POLITE)
"""A program that calls itself polite and takes the first free cell."""

LONG = "bot:club:win=0,block=1/3,fork=1,centre=1"
CLIPPED = "bot:club:win=0,block=1/3,fork=1…"
CLIPPED_TWICE = "bot:club:win=0,block=1/3,fo…"

WRITES_ITS_PID = """
with open(sys.argv[1], "w") as place:
    place.write(str(os.getpid()))
"""
"""What a program does first, so that a test can see whether it is still running in the end."""

RESIGNS = """
for line in sys.stdin:
    if line.startswith("noughts"):
        write("name meek")
    if line.startswith("position"):
        write("resign")
"""

IN_A_PIPE = """
pipe = os.open(sys.argv[1], os.O_WRONLY)
os.write(pipe, str(os.getpid()).encode())
wait()
"""
WAITS_IN_A_PIPE = plays(IN_A_PIPE)
"""A program that thinks forever, after it has written its process id to a pipe."""


def is_gone(process: int) -> bool:
    """Return whether the process has ended."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


class NamedPipe:
    """A named pipe to which a program writes its process id."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self._end = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def number(self) -> int:
        """Wait for the process id, and return it."""
        polling = select.poll()
        polling.register(self._end, select.POLLIN)
        assert polling.poll(1000 * DEADLINE_SECONDS), "the program never came to that"
        number = int(os.read(self._end, 100))
        os.close(self._end)
        return number


def resigned(folder: Path) -> list[Mark | None]:
    """Return who resigned in each saved game."""
    with open_store(url(folder), create=False) as store:
        return [listed.game.resigned for listed in store.games(limit=100) if listed.game]


# A name, a bot or a program


def test_the_examples_play() -> None:
    seats = f"program:{sys.executable} examples/bot.py", "program:sh examples/bot.sh"

    ran = noughts("watch", "--interval", "0", "--x", seats[0], "--o", seats[1], "--games", "2", cwd=ROOT)

    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("chance (program):\n")
    assert "\nfirst (program):\n" in ran.stdout
    assert "forfeits" not in ran.stdout


@pytest.mark.parametrize("seat", ["--x", "--o"])
def test_nobody_wins_against_perfect(seat: str) -> None:
    """A hundred games against random moves."""
    rng = random.Random(seat)
    games = [[*rng.sample("123456789", 9), "y"] for _ in range(100)]

    ran = noughts("play", seat, "bot:perfect", typed="\n".join(word for game in games for word in game))

    scores = [line for line in ran.stdout.splitlines() if line.startswith("Score:")]
    person = "Player O" if seat == "--x" else "Player X"
    assert (ran.returncode, ran.stderr, len(scores)) == (0, "", 100)
    assert f"{person} 0," in scores[-1]


# Bad players


REFUSED = {
    "bot:\x1b[31m": f"unknown policy '\\x1b[31m': choose one of {', '.join(policy_names())}",
    "program:printf 'name \\033[2J\\n'": (
        "\"printf 'name \\\\033[2J\\\\n'\" answered 'name \\x1b[2J' instead of 'name' and a name"
    ),
}


@pytest.mark.parametrize("line", ["play --x ann --o", "watch --o", "watch --x"])
@pytest.mark.parametrize("seat", REFUSED)
def test_control_characters_are_shown_in_escapes(line: str, seat: str, tmp_path: Path) -> None:
    """Before anything is drawn or saved."""
    ran = noughts(*line.split(), seat, typed="5\n", env=saving(tmp_path))

    assert (ran.returncode, ran.stdout, ran.stderr) == (2, "", f"noughts: {REFUSED[seat]}\n")
    assert list(tmp_path.iterdir()) == []


def test_when_one_program_is_refused_the_other_has_ended(tmp_path: Path) -> None:
    """The first one must not be left running."""
    place = tmp_path / "number"

    ran = noughts("watch", "--x", program(WRITES_ITS_PID + POLITE, place), "--o", "program:nonesuch")

    assert (ran.returncode, ran.stdout) == (2, "")
    assert is_gone(int(place.read_text()))


# Programs that forfeit

IN_THE_MIDDLE = {
    "crashes": ("raise ValueError('oh')", "ended with exit code 1, complaining: 'ValueError: oh'"),
    "is killed": ("os.kill(os.getpid(), signal.SIGKILL)", "was ended by signal 9"),
    "writes garbage": (
        "os.write(1, b'\\x1b[2J\\xff\\n'); wait()",
        "answered '\\x1b[2J\N{REPLACEMENT CHARACTER}' instead of 'move 1' to 'move 9' or 'resign'",
    ),
    "moves where there is no cell": (
        "write('move 10'); wait()",
        "answered 'move 10', but cells are 1 to 9",
    ),
    "moves onto a token": (
        "write('move 5'); wait()",
        "answered 'move 5', which is illegal: cell 5 holds X in '___/_X_/___'",
    ),
}


@pytest.mark.parametrize("harm", IN_THE_MIDDLE)
def test_a_program_that_does_anything_but_move_loses(harm: str, tmp_path: Path) -> None:
    """The reason is shown, the game is saved as resigned, and the process has ended."""
    code, why = IN_THE_MIDDLE[harm]
    place = tmp_path / "number"
    seat = program(WRITES_ITS_PID + plays(code), place)

    ran = noughts("play", "--x", "ann", "--o", seat, typed="5\nn\n", env=saving(tmp_path))

    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == (
        f"{drawn('')}ann, enter a position from 1 to 9:\n{drawn('5')}"
        f"hostile (program) forfeits: hostile {why}.\nhostile (program) resigned.\n{drawn('5')}"
        "ann Won!\nScore: ann 1, hostile (program) 0, draws 0\nPlay again? (y/n)\nGoodbye!\n"
    )
    assert (digits(tmp_path), resigned(tmp_path)) == (["5"], [O])
    assert is_gone(int(place.read_text()))


def test_a_silent_program_loses(tmp_path: Path) -> None:
    seat = "program:sh -c 'echo $$ > number; echo name mute; exec sleep 60'"
    env = saving(tmp_path)

    ran = noughts(
        "play", "--x", seat, "--o", "ann", "--patience", "1", typed="n\n", env=env, cwd=tmp_path
    )

    assert (ran.returncode, ran.stderr) == (0, "")
    assert (
        "mute (program) forfeits: mute did not answer within 1 s.\nmute (program) resigned.\n"
        in ran.stdout
    )
    assert is_gone(int((tmp_path / "number").read_text()))

    listed = noughts("games", "--finished", env=env).stdout
    assert listed.endswith("mute (program)  ann  X resigned\n")
    shown = noughts("replay", listed.splitlines()[1].split()[0], env=env).stdout
    assert "mute (program) resigned.\n" in shown
    assert shown.endswith("ann WON!\n")


# Leaving while a program thinks


@pytest.mark.parametrize(
    ("words", "way", "code"),
    [
        ("play", "Ctrl-C", 130),
        ("play", "SIGTERM", 143),
        ("play", "SIGHUP", 129),
        ("play", "hang up", 129),
        ("watch --interval 0", "Ctrl-C", 130),
    ],
)
def test_a_program_that_thinks_does_not_delay_the_end(
    words: str, way: str, code: int, tmp_path: Path
) -> None:
    """The moves until then are saved."""
    pipe = NamedPipe(tmp_path / "pipe")
    line = [*words.split(), "--o", program(WAITS_IN_A_PIPE, tmp_path / "pipe"), "--patience", "86400"]
    with in_terminal(*line, env=saving(tmp_path)) as session:
        if words == "play":
            session.expect(asked(""))
            session.type("5\n")
        number = pipe.number()

        assert session.end_by(way) == code
        assert b"Traceback" not in session.output
    assert is_gone(number)
    assert words != "play" or digits(tmp_path) == ["5"]


def test_ctrl_c_while_programs_are_ended_leaves_none_behind(tmp_path: Path) -> None:
    """The game is over, and the first program ignores the goodbye."""
    leaving, staying = (NamedPipe(tmp_path / name) for name in ("leaving", "staying"))
    at_goodbye = f"{RESIGNS}    if line.startswith('bye'):\n        break\n{IN_A_PIPE}"
    x, o = program(at_goodbye, tmp_path / "leaving"), program(greets(IN_A_PIPE), tmp_path / "staying")
    with in_terminal("watch", "--interval", "0", "--x", x, "--o", o, "--patience", "60") as session:
        numbers = leaving.number(), staying.number()

        session.type(CTRL_C)

        assert session.end() in (0, 130)  # it may come too late: a program is not waited for long
        assert b"Traceback" not in session.output
    assert all(map(is_gone, numbers))


@pytest.mark.parametrize("words", ["play", "watch"])
def test_a_bot_that_gives_no_chances_forfeits(words: str, tmp_path: Path) -> None:
    """A third-party policy may be broken."""
    ran = noughts(words, "--x", "bot:broken", typed="n\n", env=offered(tmp_path))

    assert (ran.returncode, ran.stderr) == (0, "")
    assert (
        "broken (bot) forfeits: a policy fails in '___/___/___': ZeroDivisionError: division by zero.\n"
        "broken (bot) resigned.\n"
    ) in ran.stdout


# Names


JOINED = f"{'a' * 21}👩\u200d🚀bbbbb"


@pytest.mark.parametrize(
    ("seats", "called"),
    [
        ([LONG], [CLIPPED]),
        ([LONG, LONG], [f"{CLIPPED_TWICE} (X)", f"{CLIPPED_TWICE} (O)"]),
        ([program(f"read(); write('name {'a' * 32}'); read()")], [f"program:{'a' * 23}…"]),
        ([program(f"read(); write('name {JOINED}'); read()")], [f"program:{'a' * 21}👩…"]),
    ],
    ids=["a bot", "two bots", "a program", "within an emoji"],
)
def test_a_name_that_is_too_long_is_cut(seats: list[str], called: list[str], tmp_path: Path) -> None:
    """To 32 characters with an ellipsis; no joiner is left at the end."""
    options = [word for seat, mark in zip(seats, ["--x", "--o"], strict=False) for word in (mark, seat)]

    noughts("play", *options, typed="1\n", env=saving(tmp_path))

    with open_store(url(tmp_path), create=False) as store:
        (listed,) = store.games(limit=10)
    assert listed.game
    assert [player.name for player in listed.game.players] == called
    assert all(len(name) == 32 or "👩" in name for name in called)


# Resumed games


def test_saved_names_with_marks_find_the_bots(tmp_path: Path) -> None:
    save(tmp_path, "left", "1", "5", x="bot:perfect (X)", o="bot:perfect (O)")

    ran = noughts("resume", typed="n\n", env=saving(tmp_path))

    assert (ran.returncode, ran.stderr) == (0, "")
    assert "\nScore: perfect (bot X) 0, perfect (bot O) 0, draws 1\n" in ran.stdout
    assert digits(tmp_path)[0].startswith("15")


@pytest.mark.parametrize(
    ("x", "o", "options", "now"),
    [
        ("ann", "", ["--o", "bot:perfect"], ["ann", "bot:perfect"]),
        ("", "bot:perfect", ["--x", "bot:perfect"], ["bot:perfect (X)", "bot:perfect"]),
        ("", "", ["--x", "bot:club", "--o", "bot:club"], ["bot:club", "bot:club (O)"]),
        ("ann", "bot:perfect", ["--o", "bot:perfect"], ["ann", "bot:perfect"]),
        ("ann", "bot:perfect (O)", ["--o", "bot:perfect"], ["ann", "bot:perfect (O)"]),
        ("ann", "program:polite", ["--o", FIRST_FREE], ["ann", "program:polite"]),
        ("ann", CLIPPED, ["--o", LONG], ["ann", CLIPPED]),
    ],
)
def test_a_bot_can_take_the_seat_that_is_free_or_its_own(
    x: str, o: str, options: list[str], now: list[str], tmp_path: Path
) -> None:
    """Its name is recorded, so that no move is taken for somebody else's."""
    save(tmp_path, "left", "5", x=x, o=o)

    ran = noughts("resume", *options, typed="9\nn\n", env=saving(tmp_path))

    assert (ran.returncode, ran.stderr) == (0, "")
    with open_store(url(tmp_path)) as store:
        (listed,) = store.games()
    assert listed.game
    assert [player.name for mark in Mark if (player := listed.game.player(mark))] == now
    assert len(listed.game.moves) > 1
    assert noughts("store", "verify", env=saving(tmp_path)).returncode == 0


@pytest.mark.parametrize("name", ["bob", "bot:club", "program:rude", CLIPPED])
@pytest.mark.parametrize("seat", ["bot:perfect", FIRST_FREE])
def test_nobody_moves_for_another_player(name: str, seat: str, tmp_path: Path) -> None:
    save(tmp_path, "left", "5", x="ann", o=name)
    before = file(tmp_path).read_bytes()

    ran = noughts("resume", "--o", seat, env=saving(tmp_path))

    assert (ran.returncode, ran.stdout) == (2, "")
    called = "program:polite" if seat == FIRST_FREE else seat
    assert ran.stderr == (
        f"noughts: {name!r} plays O in this game, not {called!r}: leave out --o, or start a new game\n"
    )
    assert file(tmp_path).read_bytes() == before


@pytest.mark.parametrize("name", ["program:polite", CLIPPED, f"{CLIPPED_TWICE} (O)"])
def test_a_player_that_its_name_does_not_find_must_be_given(name: str, tmp_path: Path) -> None:
    """A program, or a bot whose name was cut; the game stays as it was."""
    save(tmp_path, "left", "5", x="ann", o=name)
    before = file(tmp_path).read_bytes()

    ran = noughts("resume", env=saving(tmp_path))

    assert (ran.returncode, ran.stdout) == (2, "")
    kind = "program:COMMAND" if name.startswith("program:") else "bot:POLICY"
    assert ran.stderr == (
        f"noughts: {name!r} played O and cannot be found by its name: give --o {kind}\n"
    )
    assert file(tmp_path).read_bytes() == before
