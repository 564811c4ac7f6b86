"""Steps of document 002, the algorithm."""

from __future__ import annotations

from collections import Counter

from pytest_bdd import parsers, scenarios, then, when

from noughts import Board, Event, Mark, PlaceToken, decide, events, fold, game_over, parse_moves
from support.documents import Answer, Ran, board_texts, created, every_answer
from support.reference.tactics import LINES

scenarios("algorithm.feature")


# A turn


@when(parsers.parse("the game {moves} is played turn by turn"), target_fixture="turns")
def play_turns(moves: str) -> list[tuple[Event, ...]]:
    game, turns = created(), []
    for cell in parse_moves(moves):
        assert game.active
        turns.append(decide(game, PlaceToken(game.active, cell)))
        game = fold(turns[-1], game)
    return turns


@then("the turns go like this")
def turns_go(turns: list[tuple[Event, ...]], datatable: list[list[str]]) -> None:
    rows = []
    for turn, (placed, count, then_, *_) in enumerate(turns, start=1):
        assert isinstance(placed, events.PlayerPlacedToken)
        assert isinstance(count, events.GamePlacedCount)
        rows.append([str(turn), str(placed.mark), str(9 - count.count), str(then_)])
    assert rows == datatable[1:]


@then(parsers.parse('the last turn leads to "{happened}" and never "{unexpected}"'))
def last_turn_leads_to(turns: list[tuple[Event, ...]], happened: str, unexpected: str) -> None:
    last = [str(event) for event in turns[-1]]
    assert happened in last
    assert unexpected not in last


@when("every move is tried in every position that is not over", target_fixture="tries")
def try_moves() -> list[Answer]:
    return [each for each in every_answer() if each.game.active is each.mark and 0 <= each.cell <= 8]


@then("a free cell is marked first, and its mark is counted")
def marked_and_counted(tries: list[Answer]) -> None:
    for game, mark, cell, happened in _on_free_cells(tries):
        count = events.GamePlacedCount(10 - len(game.board.free_cells))
        assert happened[:2] == (events.PlayerPlacedToken(cell // 3, cell % 3, mark), count)


@then("then there is a winner where the mark completed a line")
def winner(tries: list[Answer]) -> None:
    won = (each for each in _on_free_cells(tries) if _completes_line(each))
    for _, mark, _, happened in won:
        assert happened[2:] == (events.GameWon(mark), events.GameLost(mark.other), events.GameCompleted())


@then("else there is a tie where no cell is left")
def tie(tries: list[Answer]) -> None:
    rest = [each for each in _on_free_cells(tries) if not _completes_line(each)]
    for _, _, _, happened in (each for each in rest if len(each.game.board.free_cells) == 1):
        assert happened[2:] == (events.GameDraw(), events.GameCompleted())


@then("else the turn passes to the other player, and the game is still on")
def turn_passes(tries: list[Answer]) -> None:
    rest = [each for each in _on_free_cells(tries) if not _completes_line(each)]
    for game, mark, _, happened in (each for each in rest if len(each.game.board.free_cells) > 1):
        assert happened[2:] == (events.PlayerActive(mark.other),)
        assert fold(happened, game).active is mark.other


@then("every cell that holds a mark is refused")
def taken_refused(tries: list[Answer]) -> None:
    taken = [each for each in tries if each.game.board.cells[each.cell]]
    assert taken
    for game, mark, _, happened in taken:
        assert [str(event) for event in happened] == [f"playerNotifyIllegalMove({mark},cellTaken)"]
        assert fold(happened, game) == game


# When to look for a winner


@then("nobody has won with fewer than 5 marks on the board")
def no_early_winner(positions: tuple[Board, ...]) -> None:
    assert not any(board.winner for board in positions if board.count < 5)


@then("somebody has won with 5, 6, 7, 8 and 9 marks on the board")
def later_winners(positions: tuple[Board, ...]) -> None:
    assert {board.count for board in positions if board.winner} == {5, 6, 7, 8, 9}


@then("no game with fewer than 5 marks is over, says the library")
def early_games_are_on(positions: tuple[Board, ...]) -> None:
    assert {game_over(board) for board in positions if board.count < 5} == {(False, "")}


# Once more


@then(parsers.parse('it asks "{question}" after "{line}"'))
def asks_after(ran: Ran, question: str, line: str) -> None:
    lines = ran.stdout.splitlines()
    assert lines.count(question) == 1
    assert lines.index(question) > lines.index(line)


@then(parsers.parse('the empty board is shown again after "{question}"'))
def empty_board_again(ran: Ran, question: str) -> None:
    lines = ran.stdout.splitlines()
    at = lines.index(question)
    assert board_texts(lines[:at]).count("___/___/___") == 1
    assert board_texts(lines[at:])[0] == "___/___/___"


# All possibilities


@when("all games there are have been played to their end", target_fixture="ends")
def play_all() -> Counter[tuple[int, Mark | None]]:
    ends: Counter[tuple[int, Mark | None]] = Counter()

    def go_on(board: Board) -> None:
        if board.is_over:
            ends[board.count, board.winner] += 1
        else:
            for cell in board.free_cells:
                go_on(board.place(cell))

    go_on(Board())
    return ends


@then("they end like this")
def they_end(ends: Counter[tuple[int, Mark | None]], datatable: list[list[str]]) -> None:
    for tokens, *numbers in datatable[1:]:
        counts = range(10) if tokens == "all" else [int(tokens)]
        found = [sum(ends[count, end] for count in counts) for end in (Mark.X, Mark.O, None)]
        assert found == [int(number) for number in numbers]


@then(parsers.parse("there are {number:d} of them"))
def there_are(ends: Counter[tuple[int, Mark | None]], number: int) -> None:
    assert ends.total() == number


def _on_free_cells(tries: list[Answer]) -> list[Answer]:
    free = [each for each in tries if each.cell in each.game.board.free_cells]
    assert len(free) == 16167, "the moves of all positions that are not over"
    return free


def _completes_line(move: Answer) -> bool:
    held = {cell for cell, mark in enumerate(move.game.board.cells) if mark is move.mark} | {move.cell}
    return any(held.issuperset(line) for line in LINES)
