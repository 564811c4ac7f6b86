"""Who sits in a seat: a person with a name, a bot, or a program.

A bot is called in the record of a game what it was asked for by, so that it can be called back when the
game is resumed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Protocol, Self

from noughts.bots.errors import NotAMachine, UnknownPolicy
from noughts.bots.menace.machine import Menace
from noughts.bots.policy import Policy
from noughts.bots.program import Program, Wait
from noughts.bots.registry import BOT, PROGRAM, parse_player
from noughts.core.board import Board, Cell, Mark
from noughts.core.errors import JOINERS, InvalidName, printable, quoted
from noughts.core.game import Game
from noughts.core.player import MAX_NAME_CHARACTERS, Player, name_key
from noughts.files import FileUnavailable


class Sitter(Protocol):
    """Whoever plays without a keyboard."""

    name: str

    def begin(self) -> None:
        """Hear that a game begins."""

    def choose(self, board: Board) -> Cell | None:
        """Return the cell to take, or None to resign; or forfeit the game."""

    def learn(self, game: Game, mark: Mark) -> str | None:
        """Hear the end of a game, and return what there is to say about it."""


class BotSeat:
    """A bot that plays by a policy, and learns nothing."""

    def __init__(self, name: str, policy: Policy, rng: Random) -> None:
        from noughts.bots.bot import Bot  # noqa: PLC0415 - only who asks for a bot loads it

        self.name = name
        self.choose = Bot(policy, rng).choose

    def begin(self) -> None:
        """Be ready for any game."""

    def learn(self, _game: Game, _mark: Mark) -> str | None:
        """Stay as it is."""
        return None


class MenaceSeat:
    """The machine that learns from every game, and is saved if it has a file."""

    def __init__(self, name: str, machine: Menace, rng: Random, file: Path | None) -> None:
        self.name = name
        self._machine = machine
        self._rng = rng
        self._file = file

    def begin(self) -> None:
        """Be ready for any game."""

    def choose(self, board: Board) -> Cell | None:
        """Draw a bead."""
        from noughts.bots.bot import Bot  # noqa: PLC0415 - the same

        return Bot(self._machine, self._rng).choose(board)  # the beads may have changed since the last

    def learn(self, game: Game, mark: Mark) -> str | None:
        """Change the beads, and keep the machine as it is now."""
        player = game.player(mark)
        name = printable(player.name) if player else self.name
        try:
            self._learn(game, mark)
        except (NotAMachine, FileUnavailable) as error:
            return f"{name} has learned nothing: {printable(str(error))}."
        games = self._machine.games
        return f"{name} has learned from {games:,} game{'' if games == 1 else 's'}."

    def _learn(self, game: Game, mark: Mark) -> None:
        """Learn from a game; what the machine in the file has learned elsewhere meanwhile counts too."""
        from noughts.bots.menace.file import save_machine  # noqa: PLC0415 - the same
        from noughts.cli.machines import kept_machine, taught  # noqa: PLC0415 - the same

        machine = self._machine
        if not self._file:
            machine.learn(game.moves, mark, game.board.first, game.resigned)
            return
        with taught(self._file):
            now = kept_machine(self._file)
            machine.boxes, machine.results, machine.rules = now.boxes, now.results, now.rules
            machine.learn(game.moves, mark, game.board.first, game.resigned)
            save_machine(machine, self._file)


class ProgramSeat:
    """A program in a process of its own."""

    def __init__(self, program: Program) -> None:
        self.name = _clipped(f"{PROGRAM}{program.name}")
        self._program = program
        self._is_new = True

    def begin(self) -> None:
        """Note that a game begins; the program hears of it with its first turn."""
        self._is_new = True

    def choose(self, board: Board) -> Cell | None:
        """Ask the program."""
        if self._is_new:
            self._is_new = False
            self._program.new_game(board.turn)
        return self._program.choose(board)

    def learn(self, _game: Game, _mark: Mark) -> str | None:
        """Learn what it likes, in its own process."""
        return None


class Seating:
    """What it takes to call bots and programs to the table; they leave with its `with` block."""

    def __init__(
        self, rng: Random, wait: Wait, patience: float | None = None, *, saves: bool = False
    ) -> None:
        self._rng = rng
        self._wait = wait
        self._patience = patience
        self._saves = saves
        self._programs: list[Program] = []
        self._machines: dict[str, tuple[Menace, Path | None]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            for program in self._programs:
                program.close(at_once=kind is not None)
        finally:  # whoever is impatient leaves nobody behind either
            for program in self._programs:
                program.close(at_once=True)

    def call(self, asked: str) -> Sitter | None:
        """Return who is to sit there, or None if it is a person."""
        kind, rest = parse_player(asked)
        if kind == BOT:
            return self._bot(rest)
        return self._program(rest) if kind == PROGRAM else None

    def _bot(self, asked_for: str) -> Sitter:
        from noughts.bots.menace.machine import Menace  # noqa: PLC0415 - the same
        from noughts.cli.machines import asked_policy, machine_file  # noqa: PLC0415 - the same

        name = _clipped(f"{BOT}{asked_for}")
        if asked_for not in self._machines:
            policy = asked_policy(asked_for)
            if not isinstance(policy, Menace):
                return BotSeat(name, policy, self._rng)
            self._machines[asked_for] = policy, machine_file(asked_for)
        machine, file = self._machines[asked_for]  # in both seats it is the same machine
        return MenaceSeat(name, machine, self._rng, file if self._saves else None)

    def _program(self, command: str) -> Sitter:
        from noughts.bots.program import ANSWER_TIMEOUT_SECONDS, Program  # noqa: PLC0415 - the same

        patience = ANSWER_TIMEOUT_SECONDS if self._patience is None else self._patience
        self._programs.append(Program(command, patience, self._wait))
        return ProgramSeat(self._programs[-1])


def seated(asked: Mapping[Mark, str | None], sitters: Mapping[Mark, Sitter]) -> tuple[Player, ...]:
    """Return those who have names; two bots of one name are told apart by their marks."""
    names = {mark: sitters[mark].name if mark in sitters else name for mark, name in asked.items()}
    if len(sitters) == 2 and len({name_key(str(name)) for name in names.values()}) == 1:
        names = {mark: _clipped(str(name), f" ({mark})") for mark, name in names.items()}
    return tuple(Player(name, mark) for mark, name in names.items() if name is not None)


def called_back(game: Game, asked: Mapping[Mark, str | None]) -> dict[Mark, str]:
    """Return which bots and programs are to be called to a game that was left."""
    seats = {}
    for mark, seat in asked.items():
        player = game.player(mark)
        called = player.name if player else ""
        name = called.removesuffix(f" ({mark})")
        is_lost = called.startswith(PROGRAM) or (called.startswith(BOT) and name.endswith(_CUT))
        if seat is not None and not parse_player(seat)[0]:
            raise InvalidName(
                f"the players of a saved game have their names: {quoted(seat)} is no bot:POLICY "
                f"and no program:COMMAND"
            )
        if seat is None and is_lost:
            raise UnknownPolicy(
                f"{quoted(called)} played {mark} and cannot be called back by its name: "
                f"say --{str(mark).lower()} bot:POLICY or program:COMMAND"
            )
        if seat is not None or called.startswith(BOT):
            seats[mark] = seat or name
    return seats


_CUT = "…"


def _clipped(name: str, after: str = "") -> str:
    """Return as much of a name as a seat has room for."""
    room = MAX_NAME_CHARACTERS - len(after)
    cut = name[: room - 1].rstrip(JOINERS) + _CUT  # a joiner at the end would join nothing
    return f"{name if len(name) <= room else cut}{after}"
