"""Games in the browser alone: against the computer, and between two people at one screen."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import expect

from noughts import Board, Mark, reachable
from noughts.analysis.coach import advise
from noughts.bots.policy import weigh
from noughts.bots.registry import LEVELS, find_policy
from noughts.core.board import SYMMETRIES
from noughts.text.catalogue import ENGLISH
from noughts.text.speaker import Speaker
from noughts.text.turning_point import say_mistake
from support.web.browser import User, Users

# The weights of every bot in every position, as text: Playwright takes its time with values
# of many parts.
WEIGHTS = """async (positions) => {
  const at = (name) => new URL(name, document.querySelector("script[type=module]").src);
  const { gameOf, weights } = await import(at("game.js"));
  const { data } = await import(at("page.js"));
  return JSON.stringify(JSON.parse(positions).map(([moves, first]) => {
    const game = gameOf(moves, first);
    return Object.keys(data.levels).map((_, bot) => Object.fromEntries(weights(data.chances, bot, game)));
  }));
}"""


def test_every_chance_of_every_bot_is_the_library_s(users: Users) -> None:
    """In every position that is not over, for both starters."""
    ann = users.new_user()
    ann.open("/")
    policies = [find_policy(bot) for bot in LEVELS.values()]

    for first in Mark:
        boards = [board for board in reachable(first) if not board.is_over]
        asked = json.dumps([(moves_to(board), first.value) for board in boards])
        found = json.loads(ann.page.evaluate(WEIGHTS, asked))

        assert len(found) == 4520
        assert found == [
            [
                {str(cell): shares.get(cell, 0) for cell in board.free_cells}
                for weights in (weigh(policy, board) for policy in policies)
                for shares in [dict(zip(weights.cells, weights.shares, strict=True))]
            ]
            for board in boards
        ]


# Draws a cell for each random number.
DRAW = """async ([weighted, numbers]) => {
  const page = document.querySelector("script[type=module]").src;
  const { draw } = await import(new URL("game.js", page));
  return numbers.map((number) => draw(new Map(weighted), () => number));
}"""


def test_a_cell_is_drawn_by_its_weight(users: Users) -> None:
    """Random numbers are at least 0 and less than 1; a cell without weight is never drawn."""
    ann = users.new_user()
    ann.open("/")
    weighted = [(0, 0), (4, 1), (1, 0), (8, 2), (2, 1), (3, 0)]
    least = 2**-53

    found = ann.page.evaluate(DRAW, [weighted, [0, 0.25 - least, 0.25, 0.75 - least, 0.75, 1 - least]])

    assert found == [4, 4, 8, 8, 2, 2]


def test_the_first_page_is_a_game(users: Users) -> None:
    """The first click is a move, and the computer answers; the address is the game."""
    ann = users.new_user()
    ann.open("/?from=somewhere")
    ann.expect_status("Your move", "___/___/___")
    ann.screenshot("start")

    ann.play(5)

    expect(ann.page.get_by_role("gridcell", name="free")).to_have_count(7)
    ann.expect_status("Your move")
    expect(ann.page).to_have_url(re.compile(r"/play/5[1-9]\?first=X&level=medium$"))
    assert re.fullmatch(
        r"You took the middle\. Medium is thinking|Medium took the [a-z ]+\. Your move",
        ann.announcements[-1],
    )


@pytest.mark.parametrize("level", [level.lower() for level in LEVELS])
def test_a_whole_game_at_each_level(users: Users, level: str) -> None:
    """The computer plays only moves that its bot can make."""
    ann = users.new_user()
    ann.open("/")
    ann.page.get_by_role("radio", name=level.capitalize()).check(force=True)
    ann.expect_text({"beginner": "Plays almost anywhere", "unbeatable": "Never loses"}.get(level, "lock"))
    policy = find_policy(LEVELS[level.capitalize()])

    board = Board()
    while not board.is_over:
        ann.play(board.free_cells[0] + 1)
        board = board.place(board.free_cells[0])
        if not board.is_over:
            wait_for_answer(ann, len(board.free_cells) - 1)
            *_, answer = moves_of(ann)
            assert weigh(policy, board).chances[answer]
            board = board.place(answer)
    ann.expect_status(
        "Draw" if board.is_draw else "You won" if board.winner is Mark.X else f"{level.capitalize()} won",
        str(board),
    )
    expect(ann.page.get_by_test_id("note")).to_have_text(
        re.compile(
            r"The game turned on move \d: .*\.|Nobody made a mistake\.|The mistakes cancelled out.*\."
        )
    )


def test_the_player_chooses_the_mark(users: Users) -> None:
    ann = users.new_user()
    ann.open("/")
    ann.button("Play O").click()
    expect(ann.page.get_by_role("gridcell", name="free")).to_have_count(8)
    ann.expect_status("Your move")
    expect(ann.page).to_have_url(re.compile(r"/play/[1-9]\?first=X&level=medium&you=O$"))
    ann.button("Play X").click()
    ann.expect_status("Your move", "___/___/___")


def test_a_game_survives_a_reload(users: Users) -> None:
    ann = users.new_user()
    ann.open("/play/519?first=X&level=hard")
    wait_for_answer(ann, 5)
    board = Board.from_moves(moves_of(ann))

    ann.page.reload()

    ann.expect_status("Your move", str(board))
    expect(ann.page.get_by_role("radio", name="Hard")).to_be_checked()


def test_a_link_to_an_unfinished_game_goes_on(users: Users) -> None:
    """Between two people, if it has no level."""
    ann = users.new_user()
    ann.open("/play/51?first=O")
    ann.expect_status("O to move", "X__/_O_/___")
    expect(ann.page.get_by_role("group", name="Level")).to_be_hidden()
    ann.play(9)
    ann.expect_status("X to move", "X__/_O_/__O")
    expect(ann.page).to_have_url(f"{users.server.url}/play/519?first=O")


def test_a_link_to_a_finished_game_replays_it(users: Users) -> None:
    ann = users.new_user()
    ann.open("/play/15263?first=X&level=easy")
    ann.expect_status("You won", "XXX/_OO/___")
    ann.button("One move back").click()
    ann.expect_status("You won", "XX_/_OO/___")
    ann.button("Again").click()
    expect(ann.page.get_by_role("slider")).to_have_count(0)


def test_two_people_at_one_screen(users: Users) -> None:
    ann = users.new_user()
    ann.open("/")
    ann.button("On this screen").click()
    ann.play(5)
    ann.expect_status("O to move", "___/_X_/___")
    ann.play(1)
    ann.expect_status("X to move", "O__/_X_/___")
    ann.force_click(5)
    ann.expect_text("That cell is taken.")
    ann.button("Take back").click()
    ann.expect_status("O to move", "___/_X_/___")
    ann.expect_announcement("O took back a move. O to move")
    for number in (2, 3, 4, 7):
        ann.play(number)

    ann.expect_status("X won", "_OX/OX_/X__")
    ann.button("Again").click()
    ann.expect_status("O to move", "___/___/___")
    ann.open("/")
    ann.expect_status("Your move", "___/___/___")


def test_a_move_is_taken_back_with_its_answer(users: Users) -> None:
    ann = users.new_user()
    ann.open("/")
    expect(ann.button("Take back")).to_have_attribute("aria-disabled", "true")
    ann.play(5)
    wait_for_answer(ann, 7)
    ann.button("Take back").click()
    ann.expect_status("Your move", "___/___/___")
    ann.expect_announcement("You took back a move. Your move")


def test_it_is_not_the_players_turn_while_the_computer_thinks(users: Users) -> None:
    ann = users.new_user()
    ann.page.clock.install()
    ann.open("/")
    ann.expect_status("Your move")
    ann.page.clock.pause_at(ann.page.evaluate("Date.now()") / 1000 + 1)
    ann.play(5)
    ann.expect_status("Medium is thinking")
    ann.page.keyboard.press("1")
    ann.expect_text("It is not your turn: Medium is to move.")
    ann.page.clock.resume()
    wait_for_answer(ann, 7)


def test_the_end_offers_what_comes_next_in_one_tap(users: Users) -> None:
    won = "/play/15263?first=X&level=medium"
    ann = users.new_user()
    for action, level, mark, status in (
        ("Again", "Medium", "O", None),
        ("Harder", "Hard", "X", "Your move"),
        ("Easier", "Easy", "X", "Your move"),
        ("Play O", "Medium", "X", None),
    ):
        ann.open(won)
        ann.expect_status("You won")
        ann.button(action).click()
        expect(ann.page.get_by_role("radio", name=level)).to_be_checked()
        if status:
            ann.expect_status(status, "___/___/___")
        else:
            wait_for_answer(ann, 8)
            expect(ann.page.locator(f'.cell[data-mark="{mark}"]')).to_have_count(1)
    for level, missing in (("beginner", "Easier"), ("unbeatable", "Harder")):
        ann.open(f"/play/15263?first=X&level={level}")
        ann.expect_status("You won")
        expect(ann.button(missing)).to_have_count(0)


# Shows a mark and the one that answers it and wins, at the same time.
ANSWER = """(board) => {
  performance.now = () => 0;
  board.show({ cells: ["X", "O", null, "X", "O", null, "X", null, null], lines: [[0, 3, 6]] });
}"""


def test_the_winning_stroke_is_drawn_after_the_mark_and_behind_it(users: Users) -> None:
    """Also when the winning mark is an answer, which waits for the mark before it."""
    ann = users.new_user()
    mark, stroke = ann.cell(7).locator("path").last, ann.page.locator(".strike path")
    ann.open("/play/124")
    ann.expect_status("O to move")
    ann.page.locator("noughts-board").evaluate(ANSWER)
    assert animation_end(ann.cell(5).locator("circle")) <= animation_start(mark)
    assert animation_end(mark) <= animation_start(stroke)

    ann.open("/play/1245")
    ann.play(7)
    ann.expect_status("X won")
    assert animation_end(mark) <= animation_start(stroke)
    assert ann.page.evaluate(
        "document.querySelector('.strike').compareDocumentPosition(document.querySelector('.grid')) & 4"
    )


CONFETTI = "document.querySelectorAll('.piece').length"


def test_a_win_is_celebrated_unless_it_should_not_be(users: Users) -> None:
    for options, setting, is_celebrated in (
        ({}, None, True),
        ({"reduced_motion": "reduce"}, None, False),
        ({}, "Celebrate a win", False),
    ):
        ann = users.new_user(**options)
        ann.page.add_init_script(RECORD_SOUNDS + KEEP_CONFETTI)
        ann.open("/play/1526?first=X&level=medium")
        if setting:
            ann.press("Settings")
            for name in (setting, "Sounds"):
                ann.page.get_by_label(name).uncheck()
            ann.press("Done")
        ann.play(3)
        ann.expect_status("You won")
        expect(ann.page.get_by_test_id("note")).not_to_be_empty()  # what comes after it
        assert (ann.page.evaluate(CONFETTI) > 0) == is_celebrated
        assert (ann.page.evaluate("tones") > 0) == is_celebrated


RECORD_SOUNDS = """
  globalThis.tones = 0;
  globalThis.OscillatorNode = class extends OscillatorNode {
    start(...given) {
      tones += 1;
      super.start(...given);
    }
  };
"""


# The page removes the confetti when it has fallen.
KEEP_CONFETTI = "addEventListener('animationend', (event) => event.stopPropagation(), true);"


def test_a_bot_is_described_in_a_sentence(users: Users) -> None:
    ann = users.new_user()
    ann.open("/")
    expect(ann.page.get_by_test_id("note")).to_have_text(
        "Usually wins and blocks, and sees half of the forks. How strong exactly?"
    )


def test_the_opening_of_the_computer_is_not_taken_back(users: Users) -> None:
    ann = users.new_user()
    ann.open("/play/?first=O&level=easy")
    wait_for_answer(ann, free=8)
    expect(ann.button("Take back")).to_have_attribute("aria-disabled", "true")


def test_a_game_that_has_not_begun_survives_a_reload(users: Users) -> None:
    """Its address says who plays, unless it is the game of the first page."""
    ann = users.new_user()
    ann.open("/")
    ann.press("On this screen")
    ann.expect_status("X to move")
    ann.page.reload()
    ann.expect_status("X to move", "___/___/___")
    ann.press("Play the computer", "Play O")
    wait_for_answer(ann, free=8)
    ann.open("/play/?level=hard")
    expect(ann.page.get_by_role("radio", name="Hard")).to_be_checked()
    ann.page.reload()
    expect(ann.page.get_by_role("radio", name="Hard")).to_be_checked()


def test_a_game_that_is_left_for_another_level_can_be_continued(users: Users) -> None:
    """The levels tried meanwhile are not in the history."""
    ann = users.new_user()
    ann.open("/")
    ann.play(5)
    wait_for_answer(ann, free=7)
    for level in ("Easy", "Hard", "Unbeatable"):
        ann.page.get_by_role("radio", name=level).check(force=True)
        ann.expect_status("Your move", "___/___/___")
    ann.page.go_back()
    wait_for_answer(ann, free=7)
    expect(ann.page.get_by_role("radio", name="Medium")).to_be_checked()
    expect(ann.status).to_be_focused()


def test_the_coach_is_turned_on_by_one_click(users: Users) -> None:
    """Also on a screen that was left in the meantime; what it answers there late is not shown here."""
    ann = users.new_user()
    ann.open("/")
    held = ann.hold_requests("**/analysis?**")
    ann.press("Coach")
    question = ann.wait_for_held(held)
    ann.press("Your games")
    ann.expect_status("Your games")
    question.continue_()
    ann.press("noughts")
    ann.expect_status("Your move")
    ann.press("Coach")
    expect(ann.cell(5)).to_contain_text("draw")
    assert "lines still open" in " ".join(ann.announcements)


# What decided a game after a mistake, for many games.
TURNING_POINTS = """async (games) => {
  const at = (name) => new URL(name, document.querySelector("script[type=module]").src);
  const { gameOf } = await import(at("game.js"));
  const { loadMistakes, turningPoint } = await import(at("turning_point.js"));
  await loadMistakes();
  const ask = ([moves, first]) => turningPoint(gameOf(moves, first), (mark) => mark);
  return JSON.stringify(JSON.parse(games).map(ask));
}"""


def test_every_mistake_is_explained_as_the_library_does(users: Users) -> None:
    """In every open position, whoever began; any of the moves that are as good may be named."""
    mistakes = {
        board: {advice.cell: advice for advice in advise(board) if advice.mistake}
        for board in reachable()
        if not board.is_over
    }
    asked = [(board, cell) for board, found in mistakes.items() for cell in found]
    ann = users.new_user()
    ann.open("/")

    games = json.dumps([([*moves_to(board), cell], "X") for board, cell in asked])
    explained = json.loads(ann.page.evaluate(TURNING_POINTS, games))

    assert len(explained) == 7_304
    for (board, cell), sentence in zip(asked, explained, strict=True):
        assert sentence in {
            ENGLISH.say(
                "review.cancelled",
                number=10 - len(board.free_cells),
                player=board.turn.value,
                cell=Speaker(cells="places").cell(cell),
                mistake=say_mistake(
                    mistakes[board.image(symmetry)][symmetry[cell]],
                    board.turn.other.value,
                    ImageSpeaker(cells="places", symmetry=symmetry),
                ),
            )
            for symmetry in SYMMETRIES
        }


class ImageSpeaker(Speaker):
    """Speaks of the cells of a board, given those of its image."""

    symmetry: tuple[int, ...] = ()

    def cell(self, cell: int) -> str:
        return super().cell(self.symmetry.index(cell))

    def line(self, line: tuple[int, ...]) -> str:
        return super().line(tuple(sorted(map(self.symmetry.index, line))))


def moves_to(board: Board) -> list[int]:
    """Return moves that lead to a position."""
    own, other = (
        [cell for cell in range(9) if board[cell] is mark] for mark in (board.first, board.first.other)
    )
    order: list[int] = []
    for at in range(len(own)):
        order += own[at : at + 1] + other[at : at + 1]
    return order


def wait_for_answer(user: User, free: int) -> None:
    expect(user.page.get_by_role("gridcell", name="free")).to_have_count(free)


def moves_of(user: User) -> list[int]:
    """Return the moves in the address."""
    found = re.search(r"/play/(\d+)\?", user.page.evaluate("location.href"))
    assert found
    return [int(digit) - 1 for digit in found[1]]


def animation_start(locator: Any) -> float:
    return timing(locator)[0]


def animation_end(locator: Any) -> float:
    return sum(timing(locator))


def timing(locator: Any) -> tuple[float, float]:
    return tuple(
        locator.evaluate(
            """(one) => ["Delay", "Duration"].map(
                (what) => parseFloat(getComputedStyle(one)[`animation${what}`]),
            )"""
        )
    )
