"""Other ways to play: the computer, the lobby, one screen; and offers between players."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from noughts import Mark
from support.web.browser import Users, event_texts, play_in_turn, read_game


def test_each_bot_is_shown_with_its_strength(users: Users) -> None:
    ann = users.new_user()
    with users.server.client() as client:
        bots = client.get("/bots").json["bots"]

    ann.open("/")
    ann.press("Play the computer")

    offered = ann.page.get_by_role("group", name="Opponents").get_by_role("button")
    expect(offered).to_have_count(len(bots))
    for button, bot in zip(offered.all(), bots, strict=True):
        expect(button).to_contain_text(bot["policy"].title())
        expect(button).to_contain_text(bot["strength"])
    ann.screenshot("computer")


def test_a_whole_game_against_the_computer(users: Users) -> None:
    ann = users.new_user()
    ann.open("/#computer")
    ann.page.get_by_label("Your name").fill("Ann")
    ann.page.get_by_role("group", name="Who starts").get_by_label("O", exact=True).check()
    ann.page.get_by_role("button", name=re.compile("^Perfect")).click()
    expect(ann.seat("O")).to_contain_text("Perfect")
    expect(ann.seat("O")).to_contain_text("computer")

    ann.expect_status("Your move")
    game = read_game(users.server, ann.game)
    assert len(game.moves) == 1
    ann.play(game.board.free_cells[0] + 1)
    expect(ann.page.get_by_role("gridcell", name="free")).to_have_count(6)
    ann.button("Take back").click()
    expect(ann.page.get_by_role("gridcell", name="free")).to_have_count(8)

    while not (game := read_game(users.server, ann.game)).is_over:
        ann.play(game.board.free_cells[0] + 1)
        expect(ann.page.get_by_role("gridcell", name="free")).to_have_count(
            len(game.board.free_cells) - 2
        )
    ann.expect_status("Perfect won" if game.winner else "Draw", str(game.board))
    assert game.winner is not Mark.X


def test_a_game_from_the_lobby(users: Users) -> None:
    ann, bob, cid = (users.new_user(name) for name in ("Lobby Ann", "Bob", "Cid"))
    bob.page.clock.install()
    bob.open("/lobby")
    waiting = bob.page.get_by_role("region", name="Waiting for an opponent")
    expect(waiting).to_be_visible()

    ann.open("/")
    ann.press("Lobby", "Open a game")
    ann.page.get_by_label("Your name").fill(ann.name)
    ann.press("Open a game")
    ann.expect_status("Waiting for an opponent")
    bob.page.clock.fast_forward(10_000)  # the list is asked for again every few seconds
    bob.screenshot("lobby")
    waiting.get_by_role("link", name=ann.name).click()
    bob.expect_status("Lobby Ann waits for an opponent")
    bob.take_seat()

    ann.play(5)
    bob.expect_status("Your move", "___/_X_/___")
    cid.open("/lobby")
    playing = cid.page.get_by_role("region", name="Being played")
    playing.get_by_role("link", name=ann.name).click()
    cid.expect_status("Bob thinks", "___/_X_/___")
    cid.expect_text("You are watching.")
    ann.expect_text("1 watching")


def test_two_players_at_one_screen(users: Users) -> None:
    ann = users.new_user()
    ann.open("/")
    ann.press("Same screen")
    ann.page.get_by_label("Who plays X").fill("Ann")
    ann.page.get_by_label("Who plays O").fill("Bob")
    ann.press("Play")

    ann.expect_status("Ann to move", "___/___/___")
    ann.play(5)
    ann.expect_status("Bob to move", "___/_X_/___")
    ann.play(1)
    ann.expect_status("Ann to move", "O__/_X_/___")
    ann.button("Take back").click()
    ann.expect_status("Bob to move", "___/_X_/___")
    for number in (2, 3, 4, 7):
        ann.play(number)

    ann.expect_status("Ann won", "_OX/OX_/X__")
    ann.button("Rematch").click()
    ann.expect_status("Bob to move", "___/___/___")
    expect(ann.page.get_by_role("img", name="Score: X 1, O 0, draws 0")).to_be_visible()


def test_a_rematch_moves_players_and_spectators_on(users: Users) -> None:
    ann, bob = users.two_players()
    cid = users.new_user("Cid")
    cid.open(f"/game/{ann.game}")
    before = ann.game
    play_in_turn(ann, bob, 1, 5, 2, 6, 3)
    ann.expect_status("You won")

    ann.button("Rematch").click()
    ann.expect_text("You have offered a rematch: Bob decides.")
    expect(ann.button("Rematch")).to_have_attribute("aria-disabled", "true")
    bob.expect_text("Ann offers a rematch.")
    bob.screenshot("rematch")
    bob.button("Rematch").click()

    bob.expect_status("Your move", "___/___/___")
    ann.expect_status("Bob thinks", "___/___/___")
    cid.expect_status("Bob thinks", "___/___/___")
    assert before not in (ann.game, bob.game, cid.game)
    assert ann.game == bob.game == cid.game
    for user in (ann, bob, cid):
        expect(user.page.get_by_role("img", name="Score: X 1, O 0, draws 0")).to_be_visible()
        expect(user.seat("X")).to_contain_text("Ann")
    bob.play(5)
    ann.play(1)
    cid.expect_status("Bob thinks", "X__/_O_/___")


def test_a_player_asks_to_take_back(users: Users) -> None:
    """The opponent declines, moves instead, and accepts."""
    ann, bob = users.two_players()
    expect(ann.button("Take back")).to_have_attribute("aria-disabled", "true")
    ann.play(5)

    ann.button("Take back").click()
    ann.expect_text("You have asked to take back: Bob decides.")
    bob.expect_text("Ann asks to take back a move.")
    bob.screenshot("asked")
    bob.button("Decline").click()
    ann.expect_text("Bob does not allow it.")
    ann.expect_status("Bob thinks", "___/_X_/___")

    ann.button("Take back").click()
    expect(bob.button("Allow")).to_be_visible()
    bob.play(1)
    ann.expect_status("Your move", "O__/_X_/___")
    expect(bob.button("Allow")).to_have_count(0)

    ann.button("Take back").click()
    bob.button("Allow").click()
    ann.expect_status("Your move", "___/___/___")
    bob.expect_status("Ann thinks", "___/___/___")
    assert event_texts(users.server, ann.game)[-3:] == [
        "playerTookBack(X)",
        "gamePlacedCount(0)",
        "playerActive(X)",
    ]


def test_a_player_resigns(users: Users) -> None:
    ann, bob = users.two_players()
    ann.play(5)

    bob.button("Resign").click()
    bob.button("No, play on").click()
    expect(bob.button("Yes, resign")).to_have_count(0)
    bob.resign()

    for user, winner, loser in ((ann, "You", "Bob"), (bob, "Ann", "You")):
        user.expect_status(f"{winner} won", "___/_X_/___")
        user.expect_text(f"{loser} resigned.")
        user.expect_announcement(f"{loser} resigned. {winner} won")


def test_a_resignation_replaces_the_message_before_it(users: Users) -> None:
    ann, bob = users.two_players()
    ann.play(5)
    ann.button("Take back").click()
    bob.button("Decline").click()
    ann.expect_text("Bob does not allow it.")
    bob.resign()
    ann.expect_status("You won")
    ann.expect_text("Bob resigned.")
