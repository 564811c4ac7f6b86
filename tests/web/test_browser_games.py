"""Other ways to play: the computer, the lobby, one screen; and offers between players."""

from __future__ import annotations

from playwright.sync_api import expect

from noughts import Mark
from support.web.browser import Users, event_texts, play_in_turn, read_game


def test_each_bot_is_shown_with_its_strength(users: Users) -> None:
    ann = users.new_user()
    with users.server.client() as client:
        bots = client.get("/bots").json["bots"]

    ann.open("/bots")

    offered = ann.page.get_by_role("listitem")
    expect(offered).to_have_count(len(bots))
    for row, bot in zip(offered.all(), bots, strict=True):
        expect(row).to_contain_text(bot["policy"].title())
        expect(row).to_contain_text(bot["strength"])
    ann.screenshot("computer")


def test_a_whole_game_against_a_bot_of_the_server(users: Users) -> None:
    ann = users.new_user()
    ann.open("/bots")
    ann.press("Play Perfect")
    expect(ann.seat("O")).to_contain_text("Perfect")
    expect(ann.seat("O")).to_contain_text("computer")

    ann.expect_status("Your move")
    ann.play(2)
    expect(ann.page.get_by_role("gridcell", name="free")).to_have_count(7)
    ann.button("Take back").click()
    expect(ann.page.get_by_role("gridcell", name="free")).to_have_count(9)

    while not (game := read_game(users.server, ann.game)).is_over:
        ann.play(game.board.free_cells[0] + 1)
        expect(ann.page.get_by_role("gridcell", name="free")).to_have_count(
            max(0, len(game.board.free_cells) - 2)
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
    ann.expect_status("Open a game")
    ann.page.get_by_label("Your name").fill(ann.name)
    ann.press("Open a game")
    ann.expect_status("Waiting for an opponent")
    bob.page.clock.fast_forward(10_000)  # the list is asked for again every few seconds
    bob.screenshot("lobby")
    waiting.get_by_role("link", name=ann.name).click()
    bob.expect_status("Lobby Ann is waiting for an opponent")
    bob.take_seat()

    ann.play(5)
    bob.expect_status("Your move", "___/_X_/___")
    cid.open("/lobby")
    playing = cid.page.get_by_role("region", name="Being played")
    playing.get_by_role("link", name=ann.name).click()
    cid.expect_status("Bob is thinking", "___/_X_/___")
    cid.expect_text("You are watching.")
    ann.expect_text("1 watching")


def test_a_rematch_moves_players_and_spectators_on(users: Users) -> None:
    ann, bob = users.two_players()
    cid = users.new_user("Cid")
    cid.open(f"/game/{ann.game}")
    before = ann.game
    play_in_turn(ann, bob, 1, 5, 2, 6, 3)
    ann.expect_status("You won")

    ann.button("Rematch").click()
    ann.expect_text("Waiting for Bob to agree.")
    expect(ann.button("Rematch")).to_have_attribute("aria-disabled", "true")
    bob.expect_text("Ann wants to play again.")
    bob.expect_announcement("Ann wants to play again.")
    bob.screenshot("rematch")
    bob.button("Rematch").click()

    bob.expect_status("Your move", "___/___/___")
    ann.expect_status("Bob is thinking", "___/___/___")
    cid.expect_status("Bob is thinking", "___/___/___")
    assert before not in (ann.game, bob.game, cid.game)
    assert ann.game == bob.game == cid.game
    for user in (ann, bob, cid):
        expect(user.page.get_by_role("img", name="Score: X 1, O 0, draws 0")).to_be_visible()
        expect(user.seat("X")).to_contain_text("Ann")
    bob.play(5)
    ann.play(1)
    cid.expect_status("Bob is thinking", "X__/_O_/___")


def test_a_player_asks_to_take_back(users: Users) -> None:
    """The opponent declines, moves instead, and accepts."""
    ann, bob = users.two_players()
    expect(ann.button("Take back")).to_have_attribute("aria-disabled", "true")
    ann.play(5)

    ann.button("Take back").click()
    ann.expect_text("Asked Bob to allow it.")
    bob.expect_text("Ann asks to take back a move.")
    bob.expect_announcement("Ann asks to take back a move.")
    bob.screenshot("asked")
    bob.page.keyboard.press("Escape")  # answers nothing
    ann.page.reload()  # the page finds out what it has asked
    ann.expect_text("Asked Bob to allow it.")
    bob.button("Decline").click()
    ann.expect_text("Bob declined.")
    ann.expect_status("Bob is thinking", "___/_X_/___")

    ann.button("Take back").click()
    ann.expect_text("Asked Bob to allow it.")
    expect(bob.button("Allow")).to_be_visible()
    bob.play(1)
    ann.expect_status("Your move", "O__/_X_/___")
    ann.expect_text("The game has moved on, so Bob no longer needs to answer.")
    expect(bob.button("Allow")).to_have_count(0)

    ann.button("Take back").click()
    bob.button("Allow").click()
    ann.expect_status("Your move", "___/___/___")
    bob.expect_status("Ann is thinking", "___/___/___")
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
    ann.expect_text("Bob declined.")
    bob.resign()
    ann.expect_status("You won")
    ann.expect_text("Bob resigned.")
