"""The game without a mouse or a screen: by keyboard, and with the live region."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, expect

from support.web.browser import User, Users, place, play_in_turn, read_game


def test_a_whole_game_by_keys_alone(users: Users) -> None:
    """The focus is always visible."""
    ann = users.new_user()
    ann.open("/")
    tab_to(ann, ann.button("On this screen"))
    ann.page.keyboard.press("Enter")
    ann.expect_status("X to move", "___/___/___")

    tab_to(ann, ann.cell(1))
    ann.screenshot("keys")
    ann.page.keyboard.press("Enter")
    ann.expect_status("O to move", "X__/___/___")
    press_arrows(ann, ("ArrowDown", 4), ("ArrowRight", 5), ("ArrowRight", 6), ("ArrowRight", 6))
    ann.page.keyboard.press("Space")
    ann.expect_status("X to move", "X__/__O/___")
    press_arrows(
        ann, ("Home", 4), ("ArrowUp", 1), ("End", 3), ("ArrowLeft", 2), ("Control+End", 9), ("ArrowUp", 6)
    )
    for number, status, board in (
        (2, "O to move", "XX_/__O/___"),
        (5, "X to move", "XX_/_OO/___"),
        (3, "X won", "XXX/_OO/___"),
    ):
        ann.page.keyboard.press(str(number))
        ann.expect_status(status, board)

    tab_to(ann, ann.button("Again"))
    ann.page.keyboard.press("Enter")
    ann.expect_status("O to move", "___/___/___")


def test_a_question_is_not_answered_by_the_key_that_asked_it(users: Users) -> None:
    """Enter twice does not resign, and Escape cancels."""
    ann = users.new_user()
    ann.start_game()
    ann.play(5)
    for cancel in ("Enter", "Escape"):
        tab_to(ann, ann.button("Resign"))
        ann.page.keyboard.press("Enter")
        expect(ann.button("No, play on")).to_be_focused()
        ann.page.keyboard.press(cancel)
        expect(ann.button("Yes, resign")).to_have_count(0)
        expect(ann.button("Resign")).to_be_focused()
    ann.page.keyboard.press("Enter")
    tab_to(ann, ann.button("Yes, resign"))
    ann.page.keyboard.press("Enter")
    ann.expect_status("Ann won")


def test_a_guest_joins_and_plays_by_keys_alone(users: Users) -> None:
    ann, bob = users.new_user("Ann"), users.new_user("Bob")
    bob.open(ann.create_link())

    tab_to(bob, bob.page.get_by_label("Your name"))
    bob.page.keyboard.type("Bob")
    bob.page.keyboard.press("Enter")
    expect(bob.cell(1)).to_be_focused()
    ann.play(5)
    bob.expect_status("Your move")
    bob.page.keyboard.press("ArrowRight")
    bob.page.keyboard.press("Enter")

    ann.expect_status("Your move", "_O_/_X_/___")


def test_digits_do_not_play_in_a_dialog(users: Users) -> None:
    ann = users.new_user()
    ann.start_game()
    ann.expect_status("Ann to move")

    ann.press("Settings")
    expect(ann.page.get_by_role("dialog")).to_be_visible()
    ann.page.keyboard.press("5")
    ann.page.keyboard.press("Escape")
    expect(ann.page.get_by_role("dialog")).to_have_count(0)
    expect(ann.page.get_by_role("button", name="Settings")).to_be_focused()
    ann.page.keyboard.press("Control+5")
    ann.page.keyboard.press("1")

    ann.expect_status("Bob to move", "X__/___/___")


def test_the_digits_can_be_turned_off(users: Users) -> None:
    """For people who speak to their browser, or rest a hand on the keys."""
    ann = users.new_user()
    ann.open("/play/5?first=X")
    ann.press("Settings")
    ann.page.get_by_label("Play with the keys 1 to 9").uncheck()
    ann.press("Done")
    ann.page.keyboard.press("1")
    ann.play(2)
    ann.expect_status("X to move", "_O_/_X_/___")


def test_each_move_is_announced_with_the_status(users: Users) -> None:
    """Once, with "You" for the player's own moves."""
    ann, bob = users.two_players()
    cid = users.new_user("Cid")
    cid.open(f"/game/{ann.game}")
    expect(cid.status).to_have_text("Ann is thinking")

    for user, number in zip((ann, bob) * 5, (5, 1, 9, 3, 2, 8, 4, 6, 7), strict=False):
        following = bob if user is ann else ann
        user.play(number)
        for listener in (ann, bob, cid):
            who = "You" if listener is user else user.name
            state = "Your move" if listener is following else f"{following.name} is thinking"
            ended = "Draw" if number == 7 else state
            listener.expect_announcement(f"{who} took {place(number)}. {ended}")

    for listener in (ann, bob, cid):
        listener.expect_announcement("Nobody made a mistake.")
        said = [text.removesuffix("Nobody made a mistake.") for text in listener.announcements]
        moves = [text.removesuffix(". ") for text in said if text]
        assert [text.partition(". ")[2] for text in moves] == listener.statuses[:9]


def test_a_win_is_seen_and_announced_alike(users: Users) -> None:
    ann, bob = users.two_players()
    cid = users.new_user("Cid")
    cid.open(f"/game/{ann.game}")

    play_in_turn(ann, bob, 1, 5, 2, 6, 3)

    ann.expect_status("You won", "XXX/_OO/___")
    ann.expect_announcement("You took the top right. You won")
    ann.screenshot("won")
    for user in (bob, cid):
        user.expect_status("Ann won", "XXX/_OO/___")
        user.expect_announcement("Ann took the top right. Ann won")
    bob.screenshot("lost")


def test_a_bot_is_announced_by_the_name_on_its_seat(users: Users) -> None:
    ann = users.new_user()
    ann.start_game("bot", bot="perfect", first="O")
    expect(ann.seat("O")).to_contain_text("Perfect")
    ann.expect_status("Your move")

    while not (game := read_game(users.server, ann.game)).is_over:
        ann.play(game.board.free_cells[0] + 1)
        left = len(game.board.free_cells) - 2
        expect(ann.page.get_by_role("gridcell", name="free")).to_have_count(left)

    ann.expect_announcement(
        f"Perfect took {place(game.moves[-1] + 1)}. {'Perfect won' if game.winner else 'Draw'}"
    )
    wording = re.compile(
        r"((You|Perfect) took the [a-z ]+\. )+(Your move|Perfect is thinking|Perfect won|Draw)"
        r"(. The game turned on .*)?|The game turned on .*"
    )
    assert [text for text in ann.announcements if not wording.fullmatch(text)] == []


def test_two_at_one_screen_are_announced_by_name(users: Users) -> None:
    ann = users.new_user()
    ann.start_game()

    ann.play(5)
    ann.expect_announcement("Ann took the middle. Bob to move")
    ann.button("Take back").click()
    ann.expect_announcement("Ann took back a move. Ann to move")
    ann.resign()

    ann.expect_announcement("Ann resigned. Bob won")
    ann.expect_status("Bob won")
    ann.expect_text("Ann resigned.")


def test_illegal_moves_are_announced(users: Users) -> None:
    ann, bob = users.two_players()
    ann.page.keyboard.press("5")
    ann.expect_status("Bob is thinking", "___/_X_/___")
    ann.page.keyboard.press("5")
    ann.expect_announcement("That cell is taken.")
    ann.page.keyboard.press("1")
    ann.expect_announcement("It is not your turn: Bob is to move.")
    bob.page.keyboard.press("5")
    bob.expect_announcement("That cell is taken.")
    bob.expect_status("Your move", "___/_X_/___")
    assert read_game(users.server, ann.game).moves == (4,)


PRESS_TWO_KEYS = """() => {
    const press = (key) => document.dispatchEvent(new KeyboardEvent("keydown", {key}));
    const status = document.querySelector(".status");
    new MutationObserver((_, observer) => {
        if (status.textContent !== "Bob is thinking") return;
        observer.disconnect();
        press("1");
    }).observe(status, {childList: true, characterData: true, subtree: true});
    press("5");
}"""


def test_announcements_keep_their_order(users: Users) -> None:
    ann, _ = users.two_players()
    ann.page.evaluate(PRESS_TWO_KEYS)
    ann.expect_announcement("You took the middle. Bob is thinking. It is not your turn: Bob is to move.")


def tab_to(user: User, wanted: Locator) -> None:
    """Press Tab until an element has the focus; each stop shows it."""
    expect(wanted).to_be_visible()
    for _ in range(40):
        if wanted.evaluate("element => element === document.activeElement"):
            return
        user.page.keyboard.press("Tab")
        assert user.page.evaluate("document.activeElement.matches('body, :focus-visible')")
    raise AssertionError(f"no Tab leads to {wanted}")


def press_arrows(user: User, *steps: tuple[str, int]) -> None:
    for key, number in steps:
        user.page.keyboard.press(key)
        expect(user.cell(number)).to_be_focused()
