"""Commands lead to events, and events to games."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import pytest

from noughts import (
    Board,
    Command,
    CreateGame,
    Game,
    JoinGame,
    Mark,
    NoughtsError,
    O,
    PlaceToken,
    Player,
    Resign,
    TakeBack,
    X,
    decide,
    errors,
    events,
    evolve,
    facts,
    fold,
    replay,
)
from noughts.core.errors import IllegalMoveReason


def playing(*cells: int, first: Mark = X) -> Game:
    """Return a game with these moves."""
    game = replay(decide(None, CreateGame(first)))
    for cell in cells:
        game = fold(decide(game, PlaceToken(game.board.turn, cell)), game)
    return game


def test_a_game_on_one_screen_is_ready_at_once() -> None:
    assert decide(None, CreateGame()) == (
        events.GameCreated(X),
        events.GameReady(),
        events.PlayerActive(X),
    )


def test_a_game_that_o_starts_has_o_active() -> None:
    decided = decide(None, CreateGame(first=O))

    assert decided == (events.GameCreated(O), events.GameReady(), events.PlayerActive(O))
    assert replay(decided).active is O


def test_a_game_with_open_seats_waits_to_be_ready() -> None:
    """It becomes ready once, when the second seat is taken."""
    decided = decide(None, CreateGame(open_seats=True))
    game = replay(decided)
    joined = fold(decide(game, JoinGame(O, "frank")), game)

    assert decided == (events.GameCreated(X), events.PlayerActive(X))
    assert decide(game, JoinGame(O, "frank")) == (events.PlayerJoined(O, "frank"),)
    assert decide(joined, JoinGame(X, "bob")) == (events.PlayerJoined(X, "bob"), events.GameReady())
    assert not joined.is_ready
    assert fold(decide(joined, JoinGame(X, "bob")), joined).is_ready


@pytest.mark.parametrize("mark", Mark)
def test_the_last_name_makes_a_game_ready_even_if_a_seat_has_none(mark: Mark) -> None:
    """A person at one screen need not have a name."""
    game = replay(decide(None, CreateGame(open_seats=True)))

    decided = decide(game, JoinGame(mark, "bob", last=True))

    assert decided == (events.PlayerJoined(mark, "bob"), events.GameReady())
    ready = fold(decided, game)
    assert decide(ready, JoinGame(mark.other, "frank", last=True)) == (
        events.PlayerJoined(mark.other, "frank"),
    )


def test_a_name_takes_a_seat_on_one_screen_too() -> None:
    game = playing()
    named = fold(decide(game, JoinGame(X, "  bob ")), game)

    assert game.is_ready
    assert named.players == (Player("bob", X),)
    assert named.player(X) == Player("bob", X)
    assert named.player(O) is None
    assert decide(named, JoinGame(O, "frank")) == (events.PlayerJoined(O, "frank"),)


def test_a_token_passes_the_turn() -> None:
    assert decide(playing(), PlaceToken(X, 5)) == (
        events.PlayerPlacedToken(1, 2, X),
        events.GamePlacedCount(1),
        events.PlayerActive(O),
    )


def test_completing_a_row_wins() -> None:
    given = playing(0, 3, 1, 4)

    decided = decide(given, PlaceToken(X, 2))

    assert decided[2:] == (events.GameWon(X), events.GameLost(O), events.GameCompleted())
    after = fold(decided, given)
    assert (after.winner, after.active, after.is_over, after.is_draw) == (X, None, True, False)


def test_nine_tokens_without_a_line_are_a_draw() -> None:
    given = playing(0, 1, 2, 4, 3, 5, 7, 6)

    decided = decide(given, PlaceToken(X, 8))

    assert decided[1:] == (events.GamePlacedCount(9), events.GameDraw(), events.GameCompleted())
    after = fold(decided, given)
    assert (after.winner, after.active, after.is_over, after.is_draw) == (None, None, True, True)


def test_a_ninth_token_that_completes_a_line_is_not_a_draw() -> None:
    given = playing(0, 1, 2, 3, 4, 5, 7, 6)

    decided = decide(given, PlaceToken(X, 8))

    assert decided[1:3] == (events.GamePlacedCount(9), events.GameWon(X))


@pytest.mark.parametrize(
    ("game", "mark", "cell", "reason"),
    [
        (playing(0, 3, 1, 4, 2), O, 8, IllegalMoveReason.GAME_OVER),
        (playing(), X, 9, IllegalMoveReason.NO_SUCH_CELL),
        (playing(), X, -1, IllegalMoveReason.NO_SUCH_CELL),
        (playing(), O, 0, IllegalMoveReason.NOT_YOUR_TURN),
        (playing(4), O, 4, IllegalMoveReason.CELL_TAKEN),
        (playing(4, 0), X, 4, IllegalMoveReason.CELL_TAKEN),
        (playing(0, 3, 1, 4, 2), X, 99, IllegalMoveReason.GAME_OVER),
        (playing(), O, 99, IllegalMoveReason.NO_SUCH_CELL),
        (playing(4), X, 4, IllegalMoveReason.CELL_TAKEN),
    ],
)
def test_an_illegal_token_is_reported_to_that_player_alone(
    game: Game, mark: Mark, cell: int, reason: IllegalMoveReason
) -> None:
    decided = decide(game, PlaceToken(mark, cell))

    assert decided == (events.PlayerNotifyIllegalMove(mark, reason),)
    assert fold(decided, game) == game
    assert facts(decided) == ()


def test_a_player_may_resign_at_any_turn() -> None:
    game = playing(4)

    decided = decide(game, Resign(X))

    assert decided == (
        events.PlayerResigned(X),
        events.GameWon(O),
        events.GameLost(X),
        events.GameCompleted(),
    )
    after = fold(decided, game)
    assert (after.resigned, after.winner, after.active, after.board) == (X, O, None, game.board)
    assert decide(after, PlaceToken(O, 0)) == (
        events.PlayerNotifyIllegalMove(O, IllegalMoveReason.GAME_OVER),
    )


@pytest.mark.parametrize("game", [playing(4, 0, 8), playing(4, 0, 8, 2)], ids=["one", "both"])
def test_taking_back_removes_one_token_or_also_its_answer(game: Game) -> None:
    decided = decide(game, TakeBack(X))

    assert decided == (events.PlayerTookBack(X), events.GamePlacedCount(2), events.PlayerActive(X))
    assert fold(decided, game) == playing(4, 0)


def test_the_first_token_of_all_can_be_taken_back() -> None:
    game = playing(4, first=O)

    assert fold(decide(game, TakeBack(O)), game) == playing(first=O)


@pytest.mark.parametrize(
    ("game", "mark", "message"),
    [
        (playing(), X, "no token to take back"),
        (playing(), O, "no token to take back"),
        (playing(4), O, "no token of O's to take back"),
    ],
)
def test_there_must_be_a_token_to_take_back(game: Game, mark: Mark, message: str) -> None:
    with pytest.raises(errors.NothingToTakeBack) as raised:
        decide(game, TakeBack(mark))

    assert str(raised.value) == message


def test_taking_back_leaves_what_lay_there_before() -> None:
    start = Game.at(Board().place(4))
    game = fold(decide(start, PlaceToken(O, 0)), start)

    decided = decide(game, TakeBack(O))

    assert decided == (events.PlayerTookBack(O), events.GamePlacedCount(1), events.PlayerActive(O))
    assert fold(decided, game) == start
    with pytest.raises(errors.NothingToTakeBack):
        decide(game, TakeBack(X))


OVER = playing(0, 3, 1, 4, 2)
NAMED = fold(decide(playing(), JoinGame(X, "bob")), playing())


@pytest.mark.parametrize(
    ("game", "command", "kind", "message"),
    [
        (None, PlaceToken(X, 4), errors.NotCreated, "the game does not exist yet: create it first"),
        (None, Resign(X), errors.NotCreated, "the game does not exist yet: create it first"),
        (
            playing(),
            CreateGame(),
            errors.AlreadyCreated,
            "the game exists already: a new one needs a new record",
        ),
        (OVER, Resign(X), errors.AlreadyOver, "the game is over: nobody can resign"),
        (OVER, TakeBack(X), errors.AlreadyOver, "the game is over: nothing can be taken back"),
        (OVER, JoinGame(X, "bob"), errors.AlreadyOver, "the game is over: nobody can join it"),
        (NAMED, JoinGame(X, "eve"), errors.SeatTaken, "'bob' has the seat of X already"),
        (
            NAMED,
            JoinGame(O, " bob"),
            errors.InvalidName,
            "the players need different names, and 'bob' is taken",
        ),
        (
            NAMED,
            JoinGame(O, "BOB"),
            errors.InvalidName,
            "the players need different names, and 'BOB' is too much like 'bob'",
        ),
        (
            NAMED,
            JoinGame(O, ""),
            errors.InvalidName,
            "a name has 1 to 32 characters, and this one is empty",
        ),
    ],
)
def test_a_command_that_makes_no_sense_is_refused(
    game: Game | None, command: Command, kind: type[NoughtsError], message: str
) -> None:
    with pytest.raises(kind) as raised:
        decide(game, command)

    assert type(raised.value) is kind
    assert str(raised.value) == message


def test_the_letter_of_a_mark_is_that_mark() -> None:
    game = fold(decide(None, CreateGame("X")))

    assert game is not None
    assert decide(game, PlaceToken("X", 4)) == decide(game, PlaceToken(X, 4))
    assert decide(game, JoinGame("O", "bob")) == (events.PlayerJoined("O", "bob"),)
    assert Game("XXX/OO_/___", winner="X") == Game.at("XXX/OO_/___").replace(is_over=False)
    assert Game.at("XXX/OO_/___").winner is Game(Board(), winner="X").winner is X


def test_a_game_can_start_from_a_board_without_its_moves() -> None:
    won = Game.at(Board(0o007, 0o030))
    drawn = Game.at(Board(0o255, 0o522))

    assert (won.winner, won.is_over, won.active) == (X, True, None)
    assert (drawn.winner, drawn.is_over, drawn.is_draw) == (None, True, True)
    assert Game.at(Board()).active is X


def test_no_events_make_no_game() -> None:
    assert fold(()) is None
    assert fold((), OVER) is OVER


UNPLACED = "a token could not have been placed"


@pytest.mark.parametrize(
    ("game", "event", "message"),
    [
        (None, events.GameReady(), "a game starts with gameCreated, not with gameReady()"),
        (playing(), events.GameCreated(), "gameCreated can only be the first event"),
        (
            playing(),
            events.PlayerPlacedToken(0, 0, O),
            f"{UNPLACED}: it is X's turn, not O's, in '___/___/___'",
        ),
        (
            playing(),
            events.PlayerPlacedToken(0, 3, X),
            f"{UNPLACED}: no cell is in row 0 and column 3: each is 0, 1 or 2",
        ),
        (
            playing(),
            events.PlayerPlacedToken(3, 0, X),
            f"{UNPLACED}: no cell is in row 3 and column 0: each is 0, 1 or 2",
        ),
        (
            playing(),
            events.PlayerPlacedToken(-1, 2, X),
            f"{UNPLACED}: no cell is in row -1 and column 2: each is 0, 1 or 2",
        ),
        (
            playing(),
            events.PlayerPlacedToken(row=True, column=0, mark=X),
            f"{UNPLACED}: no cell is in row True and column 0: each is 0, 1 or 2",
        ),
        (
            playing(),
            events.PlayerPlacedToken(0, None, X),  # type: ignore[arg-type]  # that is the point
            f"{UNPLACED}: no cell is in row 0 and column None: each is 0, 1 or 2",
        ),
        (
            playing(4),
            events.PlayerPlacedToken(1, 1, O),
            f"{UNPLACED}: cell 4 holds X in '___/_X_/___'",
        ),
        (playing(), events.PlayerTookBack(X), "X had no token to take back"),
        (playing(4), events.PlayerTookBack(O), "O had no token to take back"),
    ],
)
def test_what_cannot_be_recorded_is_refused(game: Game | None, event: events.Event, message: str) -> None:
    with pytest.raises(errors.ImpossibleHistory) as raised:
        evolve(game, event)

    assert str(raised.value) == message


def test_rows_and_columns_are_whole_numbers_of_any_kind() -> None:
    class Whole:
        def __init__(self, number: int) -> None:
            self.number = number

        def __index__(self) -> int:
            return self.number

    row, column = cast("int", Whole(2)), cast("int", Whole(1))
    game = evolve(fold(decide(None, CreateGame())), events.PlayerPlacedToken(row, column, Mark.X))

    assert game.moves == (7,)


def test_only_commands_and_events_are_accepted() -> None:
    with pytest.raises(errors.InvalidArgument, match=r"^'resign' is not a command$"):
        decide(playing(), "resign")  # type: ignore[arg-type]  # that is the point
    with pytest.raises(errors.InvalidArgument, match=r"^'gameWon' is not an event$"):
        evolve(playing(), "gameWon")  # type: ignore[arg-type]  # that is the point
    with pytest.raises(errors.NotCreated):
        decide(None, "resign")  # type: ignore[arg-type]  # that is the point


def test_true_is_not_a_cell_in_a_command() -> None:
    assert decide(playing(), PlaceToken(X, cell=True)) == (
        events.PlayerNotifyIllegalMove(X, IllegalMoveReason.NO_SUCH_CELL),
    )


@pytest.mark.parametrize("add_up", [fold, replay, facts])
def test_only_an_iterable_of_events_is_accepted(add_up: Callable[[object], object]) -> None:
    with pytest.raises(errors.InvalidArgument, match=r"^a history is a list of events, not 5$"):
        add_up(5)
