"""Hostile sessions: whatever is typed or done to it, the command ends cleanly.

The number of a run is its seed: run 17 is repeated with `-k '[17]'`. There are two dozen runs in a
terminal and a quarter as many between pipes; with NOUGHTS_TORTURE=1, two thousand and five hundred.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import unicodedata
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import TypeAlias

import pytest

from noughts import open_store
from noughts.store.verify import verify
from support.command import environment
from support.length import short_or_long
from support.pseudo_terminal import CTRL_C, CTRL_D, CTRL_V, CTRL_Z, Session, between_pipes, in_terminal
from support.saved_games import DRAW, file, save, url

Record: TypeAlias = Callable[[str, object], None]

RUNS = short_or_long(24, 2000)

QUESTION = r"(?:1 to 9:|1-9:|make your move|\(y/n\)|review\))[ \n]"
MOVED = r":\r?\n|forfeits: | resigned\."
PLACE = r"\d/\d (?:\(.*\) )?"
COLOURS = re.compile(r"\x1b\[(?:0|1;94|1;33|2|7)m")
OWN_SIGNS = {
    b"analyse": re.compile(r"\x1b\[(?:31|32|36)m"),
    b"menace": re.compile(r"\r\[#* *\] \d+ %|\r +\r"),
}
"""What two commands write besides: colours for what a move is worth, and a bar that grows."""

GOOD_NAMES = [
    b"Ann",
    b"  Bob  ",
    b"quit",
    b"%s",
    b"{mark}",
    b"{player.name}",
    b"a" * 32,
    "Zo\u00eb".encode(),
    "Zoe\u0308".encode(),
    ("a\u0308" * 32).encode(),
    ("\u540d" * 32).encode(),
    "\N{SLIGHTLY SMILING FACE}".encode(),
]
BAD_NAMES = [
    b"",
    b"   ",
    b"a" * 33,
    b"a" * 100_000,
    b"\x1b[31mred\x1b[0m",
    b"\x1b]0;title\x07",
    b"\x07",
    b"a\nb",
    b"a\rb",
    b"\xff",
    b"\xed\xa0\x80",
    "\x9b31m".encode(),
    "\u202eabc".encode(),
    "\u2066abc\u2069".encode(),
    "a\u200bb".encode(),
    "\ufeffabc".encode(),
    "\u2028".encode(),
    "\U000e0041".encode(),
]

EXAMPLE = Path(__file__).parents[2] / "examples" / "bot.sh"

GOOD_BOTS = [
    b"bot:perfect",
    b"bot:random",
    b"bot:club:win=0,block=1/3",
    b"bot:newell-simon",
    b"bot:menace",
]
BAD_BOTS = [
    b"bot:",
    b"bot:nonesuch",
    b"bot:\x1b[31m",
    b"bot:\xff",
    b"bot:" + b"a" * 100_000,
    b"bot:club:luck=1",
    b"bot:club:win=2",
    b"bot:club:,",
    b"bot:perfect:",
    b"bot:menace:file=",
    b"bot:menace:file=/",
    b"bot:menace:file=nonesuch\x1b[31m",
    b"bot:menace:beads=0",
]

_SHELL = b"program:sh -c "
GOOD_PROGRAMS = [
    b"program:sh " + os.fsencode(shlex.quote(str(EXAMPLE))),
    _SHELL + b"'echo name meek; while read -r word rest; do test $word != position || echo resign; done'",
    # Those that lose by what they do, each at once, once they have said their names:
    _SHELL + b"'echo name gone; exit 3'",
    _SHELL + b"'echo name shut; exec >&-; cat'",
    _SHELL + b"'echo name parrot; cat'",
    _SHELL + b"'echo name eager; yes'",
    _SHELL + b"'echo name illegal; yes move 5'",
    _SHELL + b"'echo name lost; yes move 0'",
    _SHELL + b"'echo name loud; cat /dev/zero'",
    _SHELL + b"'printf \"name rude\\n\\033[2J\\377\\n\"; cat'",
    _SHELL + b"'echo name sorry; printf \"\\033[31mred\" >&2; kill -9 $$'",
]
BAD_PROGRAMS = [
    b"program:",
    b"program:  ",
    b"program:'",
    b"program:nonesuch",
    b"program:\x1b[31m",
    b"program:\xff",
    b"program:/",
    b"program:" + b"a" * 100_000,
    b"program:yes",
    b"program:cat",
    b"program:echo name",
    b"program:cat /dev/zero",
    _SHELL + b"'exit 3'",
    _SHELL + b"'kill -9 $$'",
    _SHELL + b"'printf \"name \\033[2J\\n\"; cat'",
    _SHELL + b"'printf \"\\033[31mno coffee\" >&2; exit 1'",
]
CALLED = (b"bot:", b"program:")
GOOD_SEATS = [*GOOD_NAMES, *GOOD_BOTS, *GOOD_PROGRAMS]
BAD_SEATS = [*BAD_NAMES, *BAD_BOTS, *BAD_PROGRAMS]

VALUES: dict[str, tuple[list[bytes], list[bytes]]] = {
    "x": (GOOD_SEATS, BAD_SEATS),
    "o": (GOOD_SEATS, BAD_SEATS),
    "patience": ([b"30", b"86400"], [b"", b"-1", b"nan", b"1e400", b"soon", b"\x1b[31m", b"\xff"]),
    "first": ([b"X", b"O", b"random", b"loser"], [b"", b"x", b"\x1b[31m", b"\xff"]),
    "wording": ([b"narrative", b"gem", b"kata"], [b"", b"haiku", b"\x1b[31m", b"\xff"]),
    "color": ([b"auto", b"always", b"never"], [b"", b"red", b"\x1b[31m", b"\xff"]),
    "interval": (
        [b"0", b"0.001", b"1e-3", b"60", b"86400"],
        [b"", b"nan", b"inf", b"-1", b"1e400", b"two", b"\x1b[31m", b"\xff"],
    ),
    "games": ([b"1", b"3", b"300"], [b"", b"0", b"-1", b"1.5", b"9" * 5000, b"\x1b[31m", b"\xff"]),
    "seed": ([b"", b"1", b"9" * 5000, b"\x1b[31m", b"\xff"], []),
    "position": (
        [b"X_O/_X_/___", b"XXX/OO_/___", b"         ", b"51937", b"123546879", b"5"],
        [b"", b"55", b"XXX/OOO/___", b"0", b"9" * 5000, "\u0665".encode(), b"\x1b[31m", b"\xff"],
    ),
    "analysed": (
        [b"X_O/_X_/___", b"XXX/OO_/___", b"         ", b"51937", b"5", b"over", b"left"],
        [b"", b"55", b"XXX/OOO/___", b"9" * 5000, "\u0665".encode(), b"none", b"\x1b[2J", b"\xff", b"%"],
    ),
    "pair": (
        [
            b"random perfect",
            b"perfect club:win=1/2",
            b"menace random --from X_O/_X_/___",
            b"--all --from XX_/OO_/___",
        ],
        [
            b"",
            b"random",
            b"random nonesuch",
            b"--all random",
            b"perfect \x1b[31m",
            b"perfect \xff",
            b"menace:file= random",
            b"club:win=1/0 random",
            b"random random --from 5",
            b"random random --from \x1b[31m",
        ],
    ),
    "form": ([b"json", b"csv"], []),
    "json": ([b""], []),
    "policies": (
        [b"newell-simon", b"perfect perfect"],
        [b"nonesuch", b"perfect nonesuch", b"club:", b"\x1b[31m", b"\xff", b"menace:file=/", b"a" * 5000],
    ),
    "machine": (
        [
            b"box ___/___/___",
            b"box X_O/___/___",
            b"box O__/___/___ --first O",
            b"train --games 3",
            b"train --games 3 --seat O --against club --new empty=refill --seed \xff",
        ],
        [
            b"",
            b"mend",
            b"box",
            b"box XXX/OO_/___",
            b"box 5",
            b"box \x1b[31m",
            b"box ___/___/___ --file /",
            b"train --games 0",
            b"train --seat Z",
            b"train --against nonesuch",
            b"train --against \x1b[31m",
            b"train --new win=\x1b[31m",
            b"train --new file=x",
            b"train --new \xff",
            b"train --file /",
        ],
    ),
    "joined": (
        [b"--help", b"http://127.0.0.1:1/ --name Ann --help"],
        [
            b"",
            b"http://",
            b"127.0.0.1:8000",
            b"http://127.0.0.1:0/",
            b"http://127.0.0.1/game/\x1b[31m",
            b"http://127.0.0.1/game/x#\xff",
            b"http://\xff/",
            b"http://a:b@127.0.0.1/",
            b"http://127.0.0.1/ --play --friend",
            b"http://127.0.0.1/game/x --bot perfect",
            b"http://127.0.0.1/ --name \x1b[31m",
            b"http://" + b"a" * 100_000,
        ],
    ),
    "describe": ([b""], []),
    "events": ([b""], []),
    "game": ([b"left", b"left-behind"], [b"", b"over-1", b"l e", b"none", b"\x1b[31m", b"\xff", b"%"]),
    "saved": (
        [b"left", b"over", b"left-behind"],
        [b"", b"none", b"ov er", b"../over", b"a" * 5000, b"\x1b[31m", b"\xff", b"%"],
    ),
    "player": (GOOD_NAMES, BAD_NAMES),
    "limit": ([b"1", b"2", b"300"], [b"", b"0", b"-1", b"1.5", b"9" * 5000, b"\x1b[31m", b"\xff"]),
    "unfinished": ([b""], []),
    "task": (
        [b"verify", b"export", b"export left-behind --rooms", b"import /dev/null"],
        [b"", b"mend", b"verify verify", b"import /", b"import none", b"import", b"\x1b[31m", b"\xff"],
    ),
}
"""For each option, values that are good and values that are bad."""

FLAGS = {"describe", "events", "unfinished", "json"}
WORDS_ALONE = {"position", "game", "saved", "analysed"}
SEVERAL_WORDS = {"task", "pair", "policies", "machine", "joined"}

OPTIONS = {
    "play": ([], ["x", "o", "patience", "first", "events", "wording", "color", "describe"]),
    "watch": (
        ["interval"],
        ["x", "o", "patience", "first", "events", "wording", "color", "describe", "seed", "games"],
    ),
    "show": (["interval", "position"], ["wording", "color", "describe"]),
    "resume": (["game"], ["first", "wording", "color", "describe"]),
    "replay": (["saved"], ["interval", "wording", "color", "describe"]),
    "games": ([], ["player", "limit", "unfinished"]),
    "events": (["saved"], []),
    "store": (["task"], []),
    "analyse": (["analysed"], ["color", "json"]),
    "odds": (["pair"], ["form"]),
    "certify": (["policies"], []),
    "menace": (["machine"], []),
    "join": (["joined"], []),
}
"""For each command, what it needs and what it takes."""

WEIGHTS = [50, 14, 6, 12, 10, 3, 2, 5, 6, 3, 2, 4, 3, 4]
"""How often each of them is called, and in the end how often none."""

PLAYED = {b"play", b"resume"}
TOLD = {b"watch", b"show", b"replay"}

CELLS: list[bytes] = [cell.encode() for cell in (*"123456789", " 3 ")]
WORDS = [b"undo", b"resign", b"help", b"y", b"n", b"yes", b"no", b"quit", b"QUIT", b"un do", b"Y"]
WORDS += [b"hint", b"why", b"why 5", b"WHY 9", b"why not", b"hint hint"]
HARM = [
    *(name for name in BAD_NAMES if b"\n" not in name and len(name) < 1000),
    b"0",
    b"10",
    b"-1",
    b"5 5",
    b"1,2",
    b"B2",
    b"\t5\t",
    b"5\x005",
    b"\x00",
    "\u0665".encode(),
    "\uff15".encode(),
    "\u00b2".encode(),
    b"9" * 999,
    b"9" * 1000,
    b"9" * 1001,
    b"\xf0\x9f\x99" * 400,
    b"\x1b[A\x1b[B\x1bOP\x1b[200~5\x1b[201~",
    b"%s%s%n {mark} {0} $(id) `id` ; quit",
    b"1e400",
    b"9" * 5000,
    b"__import__('os')",
]
LEAVING = {b"quit", b"n", b"no"}

SIZES = [(80, 24), (20, 5), (1, 1), (0, 0), (44, 10), (43, 9), (65535, 65535)]


class Run:
    """One hostile session: what was done to the command, and the exit codes that this allows."""

    def __init__(self, seed: int, folder: Path, *, piped: bool) -> None:
        self._folder = folder
        self._rng = Random(seed)
        self._piped = piped
        self._unanswered = 0
        self._may_be_over = False
        self._is_cut = False
        self.arguments, good = self._command_line()
        self.env = self._environment()
        self.size = self._rng.choice(SIZES)
        self.steps: list[str] = []
        self.allowed = {0} if good else {2}
        self.output = b""
        self.code = -1
        """As a shell tells it; -1 if the command did not end."""

    def play_out(self) -> None:
        """Start the command, and disturb it until it ends."""
        with self._start() as session:
            if self.allowed == {0} and self.arguments[0] in PLAYED:
                self._play(session)
            elif self.allowed == {0} and self._is_stepped():
                self._step(session)
            elif self.allowed == {0} and self.arguments[0] in TOLD:
                self._watch(session)
            try:
                self.code = session.end()
            finally:
                self.output = session.output

    def unclean_lines(self) -> list[str]:
        """Return the lines with anything other than plain text and the command's own colours."""
        written = self.output
        if self._is_cut:  # perhaps in the middle of a character
            written = written[: written.rfind(b"\n") + 1]
        is_data = b"export" in self.arguments
        encoding = "utf-8" if is_data else self.env.get("PYTHONIOENCODING", "utf-8")
        text = COLOURS.sub("", written.decode(encoding))
        has_own = not self._piped or b"--color=always" in self.arguments
        if has_own and (own := OWN_SIGNS.get(self.arguments[0])):
            text = own.sub("", text)
        return [line for line in text.split("\n" if self._piped else "\r\n") if not line.isprintable()]

    def __str__(self) -> str:
        where = "between pipes" if self._piped else f"in a terminal of {self.size}"
        steps = "\n".join(self.steps)
        return f"{self.arguments} {where}\n{steps}\nexit code {self.code} after\n{self.output[-2000:]!r}"

    def _chance(self, often: float) -> bool:
        return self._rng.random() < often

    def _start(self) -> Session:
        if self._piped:
            return between_pipes(*self.arguments, env=self.env)
        return in_terminal(*self.arguments, size=self.size, env=self.env)

    # How the command is called

    def _command_line(self) -> tuple[list[bytes], bool]:
        """Return arguments, and whether they are valid."""
        command = self._rng.choices([*OPTIONS, ""], WEIGHTS)[0]
        if not command:
            return [self._rng.choice([b"-", b"--", b"bogus", b"--\x1b[31m", *BAD_NAMES])], False
        options = [self._option(name) for name in self._option_names(command)]
        arguments = [command.encode(), *(word for words, _ in options for word in words)]
        if self._chance(0.02):
            bad = self._rng.choice([b"--\x1b[31m", b"--\xff", b"\x1b]0;title\x07"])
            return [*arguments, bad], b"--help" in arguments  # which is shown before the rest is read
        if self._chance(0.02):
            return self._rng.choice([[b"--help"], [b"--version"], [arguments[0], b"-h"]]), True
        return arguments, all(fine for _, fine in options) and _names_differ(arguments)

    def _option_names(self, command: str) -> list[str]:
        needed, optional = OPTIONS[command]
        return [*needed, *(name for name in optional if self._chance(0.3))]

    def _option(self, name: str) -> tuple[list[bytes], bool]:
        """Return an option with a value, and whether it is valid."""
        good, bad = VALUES[name]
        fine = not bad or self._chance(0.95)
        value = self._rng.choice(good if fine else bad)
        fine = fine or name == "player"  # a saved game may have any name
        if name in SEVERAL_WORDS:
            return value.split(b" "), fine
        if name == "form":
            return [b"--" + value], fine
        if name in WORDS_ALONE:
            return [value], fine
        return [f"--{name}".encode() + (b"" if name in FLAGS else b"=" + value)], fine

    def _environment(self) -> dict[str, str]:
        changes = {
            "TERM": ["dumb", "", "\x1b[31m"],
            "NO_COLOR": ["1", "", "\x1b[31m"],
            "FORCE_COLOR": ["1", "", "\x1b[31m"],
            "PYTHONIOENCODING": ["ascii", "latin-1"],
            "LC_ALL": ["C"],
            "COLUMNS": ["0", "1", "-5", "wide"],
        }
        chosen = {name: self._rng.choice(values) for name, values in changes.items() if self._chance(0.1)}
        places = {"NOUGHTS_STORE": url(self._folder), "XDG_DATA_HOME": str(self._folder)}
        return environment(PYTHONUNBUFFERED="", HOME=str(self._folder), **places, **chosen)

    # What is done to a game

    def _play(self, session: Session) -> None:
        """Answer questions, often wrongly, until a way to leave is chosen."""
        if not session.wait_for(QUESTION):
            return
        for _ in range(self._rng.randint(0, 40)):
            self._type(session, self._line())
            if not self._piped and self._chance(0.05):
                self._resize(session)
            if self._chance(0.9) and not self._settle(session):
                self.steps.append("it ended")
                return
        self._leave(session, [self._end_input, self._say_quit, *self._brutal_ways()])

    def _type(self, session: Session, line: bytes) -> None:
        self.steps.append(f"typed {line[:80]!r}, {len(line)} bytes")
        session.type(line + b"\n")
        self._unanswered += 1
        self._may_be_over |= b" ".join(line.lower().split()) in LEAVING

    def _settle(self, session: Session) -> bool:
        """Wait until every line is answered; return False if the command ended, as it may."""
        while self._unanswered:
            if not session.wait_for(QUESTION):
                self.allowed = {0} if self._may_be_over else set()
                return False
            self._unanswered -= 1
        self._may_be_over = False
        return True

    def _line(self) -> bytes:
        """Return a line to type: mostly a cell, so that games end."""
        kind = self._rng.choices(["cell", "word", "harm", "noise", "huge"], [60, 12, 14, 13, 1])[0]
        if kind in ("cell", "word"):
            return self._rng.choice(CELLS if kind == "cell" else WORDS)
        line = self._rng.choice(HARM)
        if kind == "noise":
            line = self._rng.randbytes(self._rng.randint(1, 60)).replace(b"\n", b"")
        if kind == "huge" and self._piped:  # a terminal takes no line of more than 4,095 bytes
            line = (line or b"9") * (self._rng.choice([10**5, 10**7]) // max(1, len(line)))
        return line if self._piped else self._keys(line)

    def _keys(self, line: bytes) -> bytes:
        """Return the keys that send a line through a terminal, perhaps edited."""
        if self._chance(0.5):
            return re.sub(rb"[\x00-\x1f\x7f]", lambda key: CTRL_V + key[0], line)
        return line.translate(None, CTRL_C + CTRL_D + CTRL_V + CTRL_Z + b"\r")

    def _resize(self, session: Session) -> None:
        size = self._rng.choice(SIZES)
        self.steps.append(f"resized to {size}")
        session.resize(*size)

    # What is done to games that are looked on at

    def _watch(self, session: Session) -> None:
        """Wait for a move, or for the empty board before it; then leave or go on."""
        if not session.wait_for(r"\n" if self.arguments[0] == b"replay" else MOVED):
            return
        endless = not {b"--interval=60", b"--interval=86400"}.isdisjoint(self.arguments)
        ends_early = any(b"program:" in argument for argument in self.arguments)
        self._may_be_over = not endless or ends_early or b"5" in self.arguments
        if not self._piped:
            harm = self._keys(self._rng.choice(HARM))
            session.type(
                harm[:1000] + b"\n"
            )  # a terminal full of unread lines does not see Ctrl-C either
            self._resize(session)
        if endless:  # in a long pause nobody notices that a reader has gone
            self._leave(session, [way for way in self._brutal_ways() if way != self._stop_reading])
        elif self._chance(0.7):
            self._leave(session, self._brutal_ways())

    # What is done to replays, step by step

    def _is_stepped(self) -> bool:
        has_interval = any(argument.startswith(b"--interval") for argument in self.arguments)
        return self.arguments[0] == b"replay" and not has_interval and not self._piped

    def _step(self, session: Session) -> None:
        """Type lines, with and without a meaning, until something ends the replay."""
        if not session.wait_for(PLACE):
            return
        for _ in range(self._rng.randint(0, 20)):
            lines = [b"", b"b", b"\x1b[C", b"\x1b[D" * 40, b"nnnn", *CELLS, *HARM]
            self._type(session, self._keys(self._rng.choice(lines)))
            self._resize(session)
        self._may_be_over = True  # some of these lines leave
        self._leave(session, [self._end_input, self._say_quit, *self._brutal_ways()])

    # How it is left

    def _brutal_ways(self) -> list[Callable[[Session], None]]:
        if self._piped:
            return [self._terminate, self._interrupt, self._stop_reading]
        return [self._terminate, self._interrupt, self._press_ctrl_c, self._lose_patience, self._hang_up]

    def _leave(self, session: Session, ways: list[Callable[[Session], None]]) -> None:
        way = self._rng.choice(ways)
        self.steps.append(way.__name__)
        way(session)
        if self._may_be_over:
            self.allowed |= {0}

    def _end_input(self, session: Session) -> None:
        self.allowed = {0}
        if self._piped:
            session.end_input()
        else:
            session.type(CTRL_D)

    def _say_quit(self, session: Session) -> None:
        self.allowed = {0}
        session.type(b"quit\n")

    def _terminate(self, session: Session) -> None:
        self.allowed = {143}
        session.send(signal.SIGTERM)

    def _interrupt(self, session: Session) -> None:
        self.allowed = {130}
        session.send(signal.SIGINT)

    def _press_ctrl_c(self, session: Session) -> None:
        self.allowed = {130}
        session.type(self._rng.choice([b"", CTRL_Z, b"5"]) + CTRL_C)

    def _lose_patience(self, session: Session) -> None:
        self.allowed = {130, 143}
        session.type(b"quit\n" * self._rng.randint(0, 1) + CTRL_C * self._rng.randint(1, 20))
        session.send(signal.SIGTERM)
        self._may_be_over = True

    def _hang_up(self, session: Session) -> None:
        self.allowed = {128 + signal.SIGHUP}
        self._is_cut = True
        session.close()

    def _stop_reading(self, session: Session) -> None:
        self.allowed = {0}
        self._is_cut = True
        session.stop_reading()
        session.type(b"5\n")
        session.end_input()


def _names_differ(arguments: list[bytes]) -> bool:
    """Return whether two people have different names; equal names of bots are allowed."""
    seats = [argument[4:] for argument in arguments if argument[3:4] == b"="]
    names = [seat.decode(errors="replace") for seat in seats if not seat.startswith(CALLED)]
    return len({unicodedata.normalize("NFC", name).strip() for name in names}) == len(names)


@pytest.fixture(scope="session")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a store with a finished game and two unfinished ones."""
    folder = tmp_path_factory.mktemp("saved")
    save(folder, "over", *DRAW, x="Ann", o="Zo\u00eb")
    save(folder, "left-behind", "5", "1", "undo", x="Bob")
    save(folder, "left", "1", "5", "2")
    return file(folder).parent


@pytest.mark.torture
@pytest.mark.parametrize(
    ("way", "seed"),
    [*(("terminal", seed) for seed in range(RUNS)), *(("pipes", seed) for seed in range(RUNS // 4))],
)
def test_a_hostile_session_ends_cleanly(
    way: str, seed: int, saved: Path, tmp_path: Path, record_property: Record
) -> None:
    """No traceback, a valid exit code, clean text and an intact store, whatever is typed or done.

    Without a terminal, nothing cuts long lines or handles keys.
    """
    shutil.copytree(saved, file(tmp_path).parent)
    before = _records(tmp_path)
    run = Run(seed, tmp_path, piped=way == "pipes")
    try:
        run.play_out()
    finally:
        record_property("exit code", run.code)
        record_property("traceback", b"Traceback" in run.output)

    assert b"Traceback" not in run.output, str(run)
    assert run.code in run.allowed, f"not in {run.allowed}: {run}"
    assert run.unclean_lines() == [], str(run)
    after = _records(tmp_path)
    lost = [game for game, record in before.items() if not after.get(game, "").startswith(record)]
    assert lost == [], str(run)


def _records(folder: Path) -> dict[str, str]:
    """Verify the store, and return the record of each game."""
    with open_store(url(folder), create=False) as store:
        verify(store)
        return {row[0]: row[3] for row in store.rows()}
