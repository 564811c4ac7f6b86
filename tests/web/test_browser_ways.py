"""The ways to play beside the link: the computer, the lobby, one screen; and what can be asked for."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from noughts import Mark
from support.web.browser import People, stands, told


def test_each_bot_says_exactly_how_strong_it_is(people: People) -> None:
    """The page offers all bots that the server has, each with the very sentence of the API."""
    ann = people.come()
    with people.server.client() as client:
        bots = client.get("/bots").json["bots"]

    ann.opens("/")
    ann.presses("Play the computer")

    offered = ann.page.get_by_role("group", name="Opponents").get_by_role("button")
    expect(offered).to_have_count(len(bots))
    for button, bot in zip(offered.all(), bots, strict=True):
        expect(button).to_contain_text(bot["policy"].title())
        expect(button).to_contain_text(bot["strength"])
    ann.shoots("computer")


def test_a_whole_game_against_the_computer(people: People) -> None:
    """It answers by itself, allows to take back at once, and never loses when it is perfect."""
    ann = people.come()
    ann.opens("/#computer")
    ann.page.get_by_label("Your name").fill("Ann")
    ann.page.get_by_role("group", name="Who starts").get_by_label("O", exact=True).check()
    ann.page.get_by_role("button", name=re.compile("^Perfect")).click()
    expect(ann.seat("O")).to_contain_text("Perfect")
    expect(ann.seat("O")).to_contain_text("computer")

    ann.sees("Your move")
    game = stands(people.server, ann.game)
    assert len(game.moves) == 1
    ann.plays(game.board.free_cells[0] + 1)
    expect(ann.page.get_by_role("gridcell", name="free")).to_have_count(6)
    ann.button("Take back").click()
    expect(ann.page.get_by_role("gridcell", name="free")).to_have_count(8)

    while not (game := stands(people.server, ann.game)).is_over:
        ann.plays(game.board.free_cells[0] + 1)
        expect(ann.page.get_by_role("gridcell", name="free")).to_have_count(
            len(game.board.free_cells) - 2
        )
    ann.sees("Perfect won" if game.winner else "Draw", str(game.board))
    assert game.winner is not Mark.X


def test_a_table_in_the_lobby(people: People) -> None:
    """One opens a table, another who looks at the list sits down there, and a third watches."""
    ann, bob, cid = (people.come(name) for name in ("Lobby Ann", "Bob", "Cid"))
    bob.page.clock.install()
    bob.opens("/lobby")
    waiting = bob.page.get_by_role("region", name="Waiting for an opponent")
    expect(waiting).to_be_visible()

    ann.opens("/")
    ann.presses("Open table", "Open a table")
    ann.page.get_by_label("Your name").fill(ann.name)
    ann.presses("Open a table")
    ann.sees("Waiting for an opponent")
    bob.page.clock.fast_forward(10_000)  # the list is asked for again every few seconds
    bob.shoots("lobby")
    waiting.get_by_role("link", name=ann.name).click()
    bob.sees("Lobby Ann waits for an opponent")
    bob.sits()

    ann.plays(5)
    bob.sees("Your move", "___/_X_/___")
    cid.opens("/lobby")
    playing = cid.page.get_by_role("region", name="Being played")
    playing.get_by_role("link", name=ann.name).click()
    cid.sees("Bob thinks", "___/_X_/___")
    cid.reads("You are watching.")
    ann.reads("1 watching")


def test_two_people_at_one_screen(people: People) -> None:
    """Both marks are played here, each by name; the last token can be taken back by whoever is there."""
    ann = people.come()
    ann.opens("/")
    ann.presses("Same screen")
    ann.page.get_by_label("Who plays X").fill("Ann")
    ann.page.get_by_label("Who plays O").fill("Bob")
    ann.presses("Play")

    ann.sees("Ann to move", "___/___/___")
    ann.plays(5)
    ann.sees("Bob to move", "___/_X_/___")
    ann.plays(1)
    ann.sees("Ann to move", "O__/_X_/___")
    ann.button("Take back").click()
    ann.sees("Bob to move", "___/_X_/___")
    for number in (2, 3, 4, 7):
        ann.plays(number)

    ann.sees("Ann won", "_OX/OX_/X__")
    ann.button("Rematch").click()
    ann.sees("Bob to move", "___/___/___")
    expect(ann.page.get_by_role("img", name="Score: X 1, O 0, draws 0")).to_be_visible()


def test_a_rematch_keeps_all_who_were_there(people: People) -> None:
    """One offers, the other takes it; all three are at the next game, where the other starts."""
    ann, bob = people.at_table()
    cid = people.come("Cid")
    cid.opens(f"/game/{ann.game}")
    before = ann.game
    for person, number in zip((ann, bob) * 3, (1, 5, 2, 6, 3), strict=False):
        person.plays(number)
    ann.sees("You won")

    ann.button("Rematch").click()
    ann.reads("You have offered a rematch: Bob decides.")
    expect(ann.button("Rematch")).to_have_attribute("aria-disabled", "true")
    bob.reads("Ann offers a rematch.")
    bob.shoots("rematch")
    bob.button("Rematch").click()

    bob.sees("Your move", "___/___/___")
    ann.sees("Bob thinks", "___/___/___")
    cid.sees("Bob thinks", "___/___/___")
    assert before not in (ann.game, bob.game, cid.game)
    assert ann.game == bob.game == cid.game
    for person in (ann, bob, cid):
        expect(person.page.get_by_role("img", name="Score: X 1, O 0, draws 0")).to_be_visible()
        expect(person.seat("X")).to_contain_text("Ann")
    bob.plays(5)
    ann.plays(1)
    cid.sees("Bob thinks", "X__/_O_/___")


def test_a_player_asks_to_take_back(people: People) -> None:
    """The other may decline, may answer with a move instead, and may allow: then the tokens are gone."""
    ann, bob = people.at_table()
    expect(ann.button("Take back")).to_have_attribute("aria-disabled", "true")
    ann.plays(5)

    ann.button("Take back").click()
    ann.reads("You have asked to take back: Bob decides.")
    bob.reads("Ann asks to take back a move.")
    bob.shoots("asked")
    bob.button("Decline").click()
    ann.reads("Bob does not allow it.")
    ann.sees("Bob thinks", "___/_X_/___")

    ann.button("Take back").click()
    expect(bob.button("Allow")).to_be_visible()
    bob.plays(1)
    ann.sees("Your move", "O__/_X_/___")
    expect(bob.button("Allow")).to_have_count(0)

    ann.button("Take back").click()
    bob.button("Allow").click()
    ann.sees("Your move", "___/___/___")
    bob.sees("Ann thinks", "___/___/___")
    assert told(people.server, ann.game)[-3:] == [
        "playerTookBack(X)",
        "gamePlacedCount(0)",
        "playerActive(X)",
    ]


def test_a_player_resigns(people: People) -> None:
    """It is asked once more, and can be thought better of; then the other has won."""
    ann, bob = people.at_table()
    ann.plays(5)

    bob.button("Resign").click()
    bob.button("No, play on").click()
    expect(bob.button("Yes, resign")).to_have_count(0)
    bob.button("Resign").click()
    bob.button("Yes, resign").click()

    for person, winner, loser in ((ann, "You", "Bob"), (bob, "Ann", "You")):
        person.sees(f"{winner} won", "___/_X_/___")
        person.reads(f"{loser} resigned.")
        person.hears(f"{loser} resigned. {winner} won")


def test_a_resignation_is_told_whatever_was_said_before(people: People) -> None:
    """What stood below the board gives way to what has ended the game."""
    ann, bob = people.at_table()
    ann.plays(5)
    ann.button("Take back").click()
    bob.button("Decline").click()
    ann.reads("Bob does not allow it.")

    bob.button("Resign").click()
    bob.button("Yes, resign").click()

    ann.sees("You won")
    ann.reads("Bob resigned.")
