"""What the page explains: the coach, the review of a game, its replay, and the log of its events."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import expect

from support.web.browser import People, told
from support.web.serving import Server

VERBS = {"win": "wins", "loss": "loses"}


def test_the_coach_says_of_each_free_cell_what_it_is_worth(people: People) -> None:
    """Every label and every sentence is what the server's analysis of the position says."""
    ann, bob = people.at_table()
    for person, number in ((ann, 1), (bob, 3)):
        person.plays(number)
    advice = analysis(people.server, "board=X_O/___/___&first=X")
    assert {move["result"] for move in advice["moves"]} == {"win", "draw", "loss"}

    ann.button("Coach").click()

    expect(ann.button("Coach")).to_have_attribute("aria-pressed", "true")
    assert len(advice["moves"]) == 7
    for move in advice["moves"]:
        cell = ann.cell(move["cell"] + 1)
        expect(cell).to_have_accessible_name(f"Cell {move['cell'] + 1}: free, {worth(move)}")
        expect(cell).to_contain_text(worth(move))
        cell.focus()
        expect(ann.page.get_by_role("region", name="Coach")).to_contain_text(move["sentence"])
    ann.shoots("coach")
    expect(bob.page.get_by_role("region", name="Coach")).to_be_hidden()


def test_the_coach_speaks_to_whoever_is_to_move(people: People) -> None:
    """It waits while the other thinks, stays on from move to move, and can be sent away."""
    ann = people.come()
    ann.opens(f"/game/{ann.creates('self', other='Bob')['id']}")
    coach = ann.page.get_by_role("region", name="Coach")

    ann.button("Coach").click()
    expect(coach).to_contain_text("X to move: draw.")
    ann.plays(1)
    expect(coach).to_contain_text("O to move: draw. Best: 5.")
    expect(ann.cell(2)).to_have_accessible_name("Cell 2: free, loses in 6")
    ann.button("Coach").click()

    expect(coach).to_be_hidden()
    expect(ann.cell(2)).to_have_accessible_name("Cell 2: free")


def test_a_game_is_reviewed_move_by_move(people: People) -> None:
    """The slider goes through the moves: the board, and what the analysis says of each."""
    ann = people.come()
    ann.opens(f"/game/{ann.creates('self', other='Bob')['id']}")
    for number in (1, 2, 5, 9, 7, 3, 4):
        ann.plays(number)
    ann.sees("Ann won", "XOO/XX_/X_O")
    review = analysis(people.server, "moves=1259734&first=X")["review"]

    ann.button("Review").click()
    slider = ann.page.get_by_role("slider", name="Move")
    words = ann.page.get_by_role("region", name="Review")
    expect(slider).to_be_focused()
    expect(slider).to_have_value("7")
    boards = ("___/___/___", "X__/___/___", "XO_/___/___", "XO_/_X_/___", "XO_/_X_/__O", "XO_/_X_/X_O")
    for step in range(6, -1, -1):
        ann.page.keyboard.press("ArrowLeft")
        expect(slider).to_have_value(str(step))
        if step:
            expect(words).to_contain_text(worth(review["moves"][step - 1]))
        if step < len(boards):
            ann.sees("Ann won", boards[step])
    mistake = review["moves"][1]
    ann.button("One move on").click()
    ann.button("One move on").click()
    ann.reads("Move 2 of 7: Bob on 2")
    for reason in mistake["reasons"]:
        if reason["kind"] not in ("centre", "corner", "edge"):
            expect(words).to_contain_text(reason["sentence"])
    expect(words).to_contain_text(f"decided by move {review['decisive']}")
    ann.button("Review").click()

    expect(slider).to_have_count(0)
    ann.sees("Ann won", "XOO/XX_/X_O")


def test_the_replay_link_tells_the_game_again(people: People) -> None:
    """Who copies the link of a finished game has all of it in the address."""
    ann, bob = people.come(permissions=["clipboard-read", "clipboard-write"]), people.come("Bob")
    ann.opens(f"/game/{ann.creates('self', other='Bob', first='O')['id']}")
    for number in (1, 4, 2, 5, 3):
        ann.plays(number)

    ann.button("Replay link").click()
    expect(ann.button("Copied")).to_be_visible()
    link = ann.page.evaluate("navigator.clipboard.readText()")
    assert link == f"{people.server.url}/replay/14253?first=O"
    bob.opens(link)

    bob.sees("O won", "OOO/XX_/___")
    bob.button("One move back").click()
    bob.sees("O to move", "OO_/XX_/___")
    bob.page.get_by_role("slider", name="Move").fill("0")
    bob.sees("O to move", "___/___/___")


def test_a_replay_needs_nothing_that_a_server_keeps(people: People) -> None:
    """A game that no server ever saw is told, even if only the page itself can be had."""
    ann = people.come()
    ann.foresees("ERR_FAILED")
    ann.page.route("**/api/**", lambda route: route.abort())

    ann.opens("/replay/153246879")

    ann.sees("Draw", "XOX/XOO/OXX")
    ann.reads("The coach is silent.")
    ann.page.get_by_role("slider", name="Move").fill("2")
    ann.sees("X to move", "X__/_O_/___")
    assert ann.heard[-1].startswith("Move 2 of 9: O on 5.")


def test_digits_that_are_no_game_are_refused(people: People) -> None:
    ann = people.come()

    for digits, words in (
        ("11", "Move 2: the cell was taken already."),
        ("10", "Move 2: moves are the digits 1 to 9."),
        ("142536", "Move 6: the game was over by then."),
    ):
        ann.opens(f"/replay/{digits}")
        ann.sees("These digits are no game.")
        ann.reads(words)
    ann.presses("To the start")
    ann.sees("Three in a row.")


def test_the_events_are_told_live_in_the_language_of_the_documents(people: People) -> None:
    """The drawer shows each event with its number as soon as it happens, also to who watches."""
    ann, bob = people.at_table()
    cid = people.come("Cid")
    cid.opens(f"/game/{ann.game}")
    for person in (ann, cid):
        person.page.get_by_text("Events", exact=True).click()
    events = [person.page.get_by_role("list", name="Events of the game") for person in (ann, cid)]
    before = ["gameCreated(X)", "playerJoined(X,Ann)", "playerJoined(O,Bob)", "gameReady()"]

    ann.plays(3)
    bob.plays(5)

    for shown in events:
        expect(shown.get_by_role("listitem").last).to_contain_text("playerActive(X)")
        texts = shown.get_by_role("listitem").all_text_contents()
        assert texts == numbered(told(people.server, ann.game))
        assert not set(before) - {text.lstrip("0123456789") for text in texts}
        assert "playerPlacedToken(0,2,X)" in texts[-6]
    ann.button("Resign").click()
    ann.button("Yes, resign").click()
    for shown in events:
        expect(shown.get_by_role("listitem").last).to_contain_text("gameCompleted(true)")
        assert shown.get_by_role("listitem").all_text_contents() == numbered(
            told(people.server, ann.game)
        )


def analysis(server: Server, question: str) -> Any:
    """Return what the server says of a position or of a game."""
    with server.client() as client:
        return client.get(f"/analysis?{question}").json


def worth(move: dict[str, Any]) -> str:
    """Return what the page calls the worth of a move."""
    return "draw" if move["result"] == "draw" else f"{VERBS[move['result']]} in {move['distance']}"


def numbered(events: list[str]) -> list[str]:
    return [f"{version}{event}" for version, event in enumerate(events, 1)]
