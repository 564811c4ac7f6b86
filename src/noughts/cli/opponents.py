"""Bots and programs as players, and the file that a MENACE is kept in.

A game records the name by which a bot was requested, so that the bot can be found again when the game is
resumed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from errno import EACCES
from pathlib import Path
from random import Random
from typing import Self

from noughts.bots.bot import Bot
from noughts.bots.errors import NotAMachine, UnknownPolicy
from noughts.bots.menace.file import load_machine, save_machine
from noughts.bots.menace.machine import Menace
from noughts.bots.policy import Policy
from noughts.bots.policy_file import load_policy
from noughts.bots.program import ANSWER_TIMEOUT_SECONDS, Program, Wait
from noughts.bots.registry import BOT, PROGRAM, SAVED, find_policy, parse_player, policy_names
from noughts.core.board import Board, Cell, Mark
from noughts.core.errors import printable, quoted
from noughts.core.game import Game
from noughts.files import FileUnavailable
from noughts.store.errors import StoreUnavailable
from noughts.store.urls import data_folder
from noughts.system import lock
from noughts.text.catalogue import Catalogue
from noughts.text.describe import shown_name

MENACE, MENACE_FILE = "menace", "menace:file="
SAVED_FILE = f"{SAVED}:file="


class BotOpponent:
    def __init__(self, name: str, policy: Policy, rng: Random) -> None:
        self.name = name
        self.choose = Bot(policy, rng).choose_or_resign

    def start_game(self) -> None: ...

    def finish_game(self, _game: Game, _mark: Mark, _wording: Catalogue) -> str | None:
        return None


class MenaceOpponent:
    """A machine that learns from every game, and is saved if it has a file."""

    def __init__(self, name: str, machine: Menace, rng: Random, file: Path | None) -> None:
        self.name = name
        self._machine = machine
        self._rng = rng
        self._file = file

    def start_game(self) -> None: ...

    def choose(self, board: Board) -> Cell | None:
        # A new one: the beads may have changed.
        return Bot(self._machine, self._rng).choose_or_resign(board)

    def finish_game(self, game: Game, mark: Mark, wording: Catalogue) -> str | None:
        player = game.player(mark)
        name = shown_name(player) if player else self.name
        try:
            self._learn(game, mark)
        except (NotAMachine, FileUnavailable) as error:
            return wording.say("learned.nothing", player=name, why=printable(str(error)))
        if not self._file:
            return wording.say("learned.forgets", player=name)
        games = self._machine.games
        key = "learned.one_game" if games == 1 else "learned.games"
        return wording.say(key, player=name, games=f"{games:,}")

    def _learn(self, game: Game, mark: Mark) -> None:
        """Learn from a game; first take over what the machine in the file has learned elsewhere."""
        machine = self._machine
        if not self._file:
            machine.learn(game.moves, mark, game.board.first, game.resigned)
            return
        with lock_machine(self._file):
            now = load_or_create_machine(self._file)
            machine.boxes, machine.results, machine.rules = now.boxes, now.results, now.rules
            machine.learn(game.moves, mark, game.board.first, game.resigned)
            save_machine(machine, self._file)


class ProgramOpponent:
    """A program in a process of its own; it learns of a new game with its first turn."""

    def __init__(self, program: Program) -> None:
        self.name = f"{PROGRAM}{program.name}"
        self._program = program
        self._is_new_game = True

    def start_game(self) -> None:
        self._is_new_game = True

    def choose(self, board: Board) -> Cell | None:
        if self._is_new_game:
            self._is_new_game = False
            self._program.new_game(board.turn)
        return self._program.choose_or_resign(board)

    def finish_game(self, _game: Game, _mark: Mark, _wording: Catalogue) -> str | None:
        return None


class Opponents:
    """The bots and programs of a game; programs end with the `with` block."""

    def __init__(
        self, rng: Random, wait: Wait, patience: float | None = None, *, saves: bool = False
    ) -> None:
        self._rng = rng
        self._wait = wait
        self._patience = ANSWER_TIMEOUT_SECONDS if patience is None else patience
        self._saves = saves
        self._programs: list[Program] = []
        self._machines: dict[str, tuple[Menace, Path | None]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            for program in self._programs:
                program.close(at_once=kind is not None)
        finally:  # even after Ctrl-C no process is left behind
            for program in self._programs:
                program.close(at_once=True)

    def seat(self, player: str) -> BotOpponent | MenaceOpponent | ProgramOpponent | None:
        """Return who plays, or None if it is a person."""
        kind, rest = parse_player(player)
        if kind == BOT:
            return self._bot(rest)
        if kind == PROGRAM:
            self._programs.append(Program(rest, self._patience, self._wait))
            return ProgramOpponent(self._programs[-1])
        return None

    def _bot(self, policy_name: str) -> BotOpponent | MenaceOpponent:
        name = f"{BOT}{policy_name}"
        if policy_name not in self._machines:
            policy = load_bot(policy_name)
            if not isinstance(policy, Menace):
                return BotOpponent(name, policy, self._rng)
            self._machines[policy_name] = policy, _machine_file(policy_name)
        machine, file = self._machines[policy_name]  # the same machine in both seats
        return MenaceOpponent(name, machine, self._rng, file if self._saves else None)


def load_bot(name: str) -> Policy:
    """Return a policy by its name; it may be in a file, and `menace` is the user's own machine."""
    if name.startswith(SAVED_FILE):
        return load_policy(_path(name, SAVED_FILE))
    if name.partition(":")[0] == SAVED and SAVED not in policy_names():
        raise UnknownPolicy(f"a policy in a file is written {SAVED_FILE}PATH, not {quoted(name)}")
    if name.startswith(MENACE_FILE):
        return load_machine(_path(name, MENACE_FILE))
    return load_or_create_machine(menace_file()) if name == MENACE else find_policy(name)


def _machine_file(name: str) -> Path | None:
    if name.startswith(MENACE_FILE):
        return _path(name, MENACE_FILE)
    return menace_file() if name == MENACE else None


def _path(name: str, prefix: str) -> Path:
    if not (path := name.removeprefix(prefix)):
        raise UnknownPolicy(f"{prefix} needs the name of a file")
    return Path(path)


def menace_file() -> Path:
    """Return where the user's own machine is kept."""
    try:
        return data_folder(os.environ) / "menace.json"
    except StoreUnavailable:
        raise FileUnavailable(
            "no folder to keep a menace in: set HOME, or give menace:file=PATH or --file PATH"
        ) from None


def count_games(number: int) -> str:
    return f"{number:,} game{'' if number == 1 else 's'}"


def load_or_create_machine(file: Path) -> Menace:
    return load_machine(file) if file.exists() else Menace()


@contextmanager
def lock_machine(file: Path) -> Iterator[None]:
    """Keep other processes from training the machine in a file meanwhile: their work would be lost.

    The file itself is locked, and each save replaces it: a lock counts only while it is in place.
    """
    if file.is_dir():
        raise NotAMachine(f"{file} is a folder, not the file of a menace")
    if not file.exists():
        save_machine(Menace(), file)
    with ExitStack() as held:
        try:
            locked = held.enter_context(file.open("rb"))
            is_ours = lock(locked.fileno())
            if not is_ours or not os.path.samestat(os.fstat(locked.fileno()), file.stat()):
                raise FileUnavailable(f"another noughts is training {file}")
            if not os.access(file.resolve().parent, os.W_OK):
                raise PermissionError(EACCES, os.strerror(EACCES))
        except OSError as error:
            raise FileUnavailable(f"{file} cannot be written: {error.strerror}") from error
        yield  # what fails meanwhile has its own errors, as when nobody reads the output
