"""A game as a decider: `decide` turns a command into events, `evolve` and `fold` apply them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, reduce
from operator import index
from typing import Never, TypeAlias, overload

from noughts.core.board import AnyMark, Board, Cell, Mark, as_mark, cell_at
from noughts.core.errors import (
    AlreadyCreated,
    AlreadyOver,
    IllegalMove,
    IllegalMoveReason,
    ImpossibleHistory,
    InvalidArgument,
    NotCreated,
    NothingToTakeBack,
    NoughtsError,
    SeatTaken,
    printable,
    quoted,
)
from noughts.core.events import (
    Event,
    GameCompleted,
    GameCreated,
    GameDraw,
    GameLost,
    GamePlacedCount,
    GameReady,
    GameWon,
    PlayerActive,
    PlayerJoined,
    PlayerNotifyIllegalMove,
    PlayerPlacedToken,
    PlayerResigned,
    PlayerTookBack,
    each_event,
)
from noughts.core.notation import AnyBoard, as_board
from noughts.core.player import Player, check_names_differ
from noughts.core.value import Value, changed


class CreateGame(Value):
    """Start a game; with open seats it is ready when both players have joined, otherwise at once."""

    first: Mark = Mark.X
    open_seats: bool = False

    def __init__(self, first: AnyMark = Mark.X, open_seats: bool = False) -> None:
        self.__dict__.update(first=as_mark(first), open_seats=open_seats)


class JoinGame(Value):
    """Name the player of a seat; with `last` the game is ready, even if the other seat has no name.

    With `is_entered=False` the name is not checked, as for a player of an earlier game.
    """

    mark: Mark
    name: str
    last: bool = False
    is_entered: bool = True

    def __init__(self, mark: AnyMark, name: str, last: bool = False, is_entered: bool = True) -> None:
        self.__dict__.update(mark=as_mark(mark), name=name, last=last, is_entered=is_entered)


class PlaceToken(Value):
    """Place a mark on a cell."""

    mark: Mark
    cell: Cell

    def __init__(self, mark: AnyMark, cell: Cell) -> None:
        self.__dict__.update(mark=as_mark(mark), cell=cell)


class Resign(Value):
    """Resign the game."""

    mark: Mark

    def __init__(self, mark: AnyMark) -> None:
        self.__dict__.update(mark=as_mark(mark))


class TakeBack(Value):
    """Take back the player's last token, and the answer to it."""

    mark: Mark

    def __init__(self, mark: AnyMark) -> None:
        self.__dict__.update(mark=as_mark(mark))


Command: TypeAlias = CreateGame | JoinGame | PlaceToken | Resign | TakeBack


class Game(Value):
    """The state of a game."""

    board: Board
    moves: tuple[Cell, ...] = ()
    players: tuple[Player, ...] = ()
    is_ready: bool = False
    winner: Mark | None = None
    resigned: Mark | None = None
    is_over: bool = False

    def __init__(
        self,
        board: AnyBoard,
        moves: tuple[Cell, ...] = (),
        players: tuple[Player, ...] = (),
        is_ready: bool = False,
        winner: AnyMark | None = None,
        resigned: AnyMark | None = None,
        is_over: bool = False,
    ) -> None:
        self.__dict__.update(
            board=as_board(board),
            moves=moves,
            players=players,
            is_ready=is_ready,
            winner=None if winner is None else as_mark(winner),
            resigned=None if resigned is None else as_mark(resigned),
            is_over=is_over,
        )

    @classmethod
    def at(cls, board: AnyBoard) -> Game:
        """Return a game in that position, without its moves."""
        board = as_board(board)
        return cls(board, winner=board.winner, is_over=board.is_over)

    @property
    def active(self) -> Mark | None:
        """The mark to move, or None when the game is over."""
        return None if self.is_over else self.board.turn

    @property
    def is_draw(self) -> bool:
        """True if the game is over and nobody won."""
        return self.is_over and self.winner is None

    def player(self, mark: AnyMark) -> Player | None:
        """Return the player of that seat, if it has a name."""
        mark = as_mark(mark)
        return next((player for player in self.players if player.mark is mark), None)


def decide(game: Game | None, command: Command) -> tuple[Event, ...]:
    """Return the events that `command` leads to.

    >>> game = fold(decide(None, CreateGame()))
    >>> print(*decide(game, PlaceToken(Mark.X, 4)), sep=" ")
    playerPlacedToken(1,1,X) gamePlacedCount(1) playerActive(O)
    """
    if game is None:
        return _create(command)
    match command:
        case PlaceToken(mark, cell):
            return _place(game, mark, cell)
        case Resign(mark):
            return _resign(game, mark)
        case TakeBack(mark):
            return _take_back(game, mark)
        case JoinGame():
            return _join(game, command)
        case CreateGame():
            raise AlreadyCreated("the game exists already: a new one needs a new record")
        case _:
            raise _stranger(command, "a command")


_NEW_GAMES = {mark: Game(Board(first=mark)) for mark in Mark}


def evolve(game: Game | None, event: Event) -> Game:
    """Return the game after `event`.

    Only an event that cannot be applied is refused; `replay` also checks that `decide` would return it.
    """
    if game is None:
        if isinstance(event, GameCreated):
            return _NEW_GAMES[event.first]
        raise ImpossibleHistory(f"a game starts with gameCreated, not with {event}")
    match event:  # the most frequent first
        case GamePlacedCount() | PlayerActive():
            return game  # the board has it already
        case PlayerPlacedToken(row, column, mark):
            return _record_token(game, row, column, mark)
        case GameLost() | GameDraw() | PlayerNotifyIllegalMove():
            return game
        case GameWon(mark):
            return changed(game, winner=mark)
        case GameCompleted():
            return changed(game, is_over=True)
        case GameReady():
            return changed(game, is_ready=True)
        case PlayerJoined(mark, name):
            return changed(game, players=(*game.players, Player.recorded(name, mark)))
        case PlayerResigned(mark):
            return changed(game, resigned=mark)
        case PlayerTookBack(mark):
            return _record_take_back(game, mark)
        case GameCreated():
            raise ImpossibleHistory("gameCreated can only be the first event")
        case _:
            raise _stranger(event, "an event")


@overload
def fold(events: Iterable[Event], start: Game) -> Game: ...
@overload
def fold(events: Iterable[Event], start: None = None) -> Game | None: ...


def fold(events: Iterable[Event], start: Game | None = None) -> Game | None:
    """Apply events to a game, or from the beginning."""
    return reduce(evolve, each_event(events), start)


def replay(events: Iterable[Event]) -> Game:
    """Apply a whole history; refuse one that `decide` would not have returned.

    >>> replay([GameCreated(), GameReady(), PlayerActive(Mark.O)])
    Traceback (most recent call last):
    noughts.core.errors.ImpossibleHistory: event 3 is playerActive(O) instead of playerActive(X)
    """
    history = tuple(each_event(events))
    game, at = None, 0
    while at < len(history):
        step = _explained(game, history, at)
        game = fold(step, game)
        at += len(step)
    if game is None:
        raise ImpossibleHistory("a game has at least one event, gameCreated")
    return game


def _create(command: Command) -> tuple[Event, ...]:
    if not isinstance(command, CreateGame):
        raise NotCreated("the game does not exist yet: create it first")
    first = command.first
    if command.open_seats:
        return GameCreated(first), PlayerActive(first)
    return GameCreated(first), GameReady(), PlayerActive(first)


def _place(game: Game, mark: Mark, cell: Cell) -> tuple[Event, ...]:
    """Mark a free cell, check for a winner, check for a full board, pass the turn: in this order."""
    if game.is_over:
        return (PlayerNotifyIllegalMove(mark, IllegalMoveReason.GAME_OVER),)
    try:
        board = game.board.place(cell, mark)
    except IllegalMove as refusal:
        return (PlayerNotifyIllegalMove(mark, refusal.reason),)
    return _placed(index(cell), mark, board.count, board.winner is not None, board.is_over)


@cache  # a few hundred exist
def _placed(cell: int, mark: Mark, count: int, is_won: bool, is_over: bool) -> tuple[Event, ...]:
    placed = PlayerPlacedToken(*divmod(cell, 3), mark), GamePlacedCount(count)
    if is_won:
        return *placed, GameWon(mark), GameLost(mark.other), GameCompleted()
    if is_over:
        return *placed, GameDraw(), GameCompleted()
    return *placed, PlayerActive(mark.other)


def _resign(game: Game, mark: Mark) -> tuple[Event, ...]:
    if game.is_over:
        raise AlreadyOver("the game is over: nobody can resign")
    return PlayerResigned(mark), GameWon(mark.other), GameLost(mark), GameCompleted()


def _take_back(game: Game, mark: Mark) -> tuple[Event, ...]:
    if game.is_over:
        raise AlreadyOver("the game is over: nothing can be taken back")
    taken = _tokens_to_take_back(game, mark)
    if taken > len(game.moves):
        whose = f" of {mark}'s" if game.moves else ""
        raise NothingToTakeBack(f"no token{whose} to take back")
    return PlayerTookBack(mark), GamePlacedCount(game.board.count - taken), PlayerActive(mark)


def _join(game: Game, command: JoinGame) -> tuple[Event, ...]:
    if game.is_over:
        raise AlreadyOver("the game is over: nobody can join it")
    mark, name = command.mark, command.name
    player = Player(name, mark) if command.is_entered else Player.recorded(name, mark)
    if seated := game.player(mark):
        raise SeatTaken(f"'{printable(seated.name)}' has the seat of {mark} already")
    opponent = game.player(mark.other)
    if command.is_entered and opponent:
        check_names_differ(player.name, opponent.name)
    joined = PlayerJoined(mark, player.name)
    return (joined, GameReady()) if (opponent or command.last) and not game.is_ready else (joined,)


def _record_token(game: Game, row: int, column: int, mark: Mark) -> Game:
    try:
        cell = cell_at(row, column)
        board = game.board.place(cell, mark)
    except NoughtsError as error:
        raise ImpossibleHistory(f"a token could not have been placed: {error}") from error
    return changed(game, board=board, moves=(*game.moves, cell))


def _record_take_back(game: Game, mark: Mark) -> Game:
    taken = _tokens_to_take_back(game, mark)
    if taken > len(game.moves):
        raise ImpossibleHistory(f"{mark} had no token to take back")
    before, left = game.board, ~sum(1 << cell for cell in game.moves[-taken:])
    board = Board(before.x & left, before.o & left, before.first)
    return changed(game, board=board, moves=game.moves[:-taken])


def _tokens_to_take_back(game: Game, mark: Mark) -> int:
    """Count the player's own last token, and the answer to it if there was one."""
    return 2 if game.board.turn is mark else 1


def _stranger(stranger: Never, kind: str) -> InvalidArgument:
    """Return the error for a value of another type; `Never` makes mypy check that no case is missing."""
    return InvalidArgument(f"{quoted(stranger)} is not {kind}")


def _explained(game: Game | None, history: tuple[Event, ...], at: int) -> tuple[Event, ...]:
    """Return the events of one command from `at` on, or refuse an event that does not follow."""
    try:
        command = _cause(*history[at : at + 2])
        expected = None if command is None else decide(game, command)
    except NoughtsError as error:
        raise ImpossibleHistory(f"event {at + 1}, {history[at]}: {error}") from error
    if expected is None:
        raise ImpossibleHistory(f"event {at + 1} is {history[at]}, which no command leads to")
    for place, event in enumerate(expected, start=at):
        if place == len(history):
            raise ImpossibleHistory(f"the history stops after event {place}, before {event}")
        if history[place] != event:
            raise ImpossibleHistory(f"event {place + 1} is {history[place]} instead of {event}")
    return expected


def _cause(event: Event, following: Event | None = None) -> Command | None:
    """Return the command whose first event is `event`, if any."""
    match event:
        case GameCreated(first):
            return CreateGame(first, open_seats=isinstance(following, PlayerActive))
        case PlayerJoined(mark, name):
            return JoinGame(mark, name, last=isinstance(following, GameReady), is_entered=False)
        case PlayerPlacedToken(row, column, mark):
            return PlaceToken(mark, cell_at(row, column))
        case PlayerResigned(mark):
            return Resign(mark)
        case PlayerTookBack(mark):
            return TakeBack(mark)
        case _:
            return None
