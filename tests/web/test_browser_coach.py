"""The coach, reviews, replays and the event log on the page."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import expect

from support.web.browser import Users, cell_name, event_texts
from support.web.serving import Server

VERBS = {"win": "wins", "loss": "loses"}


def test_the_coach_labels_each_free_cell(users: Users) -> None:
    ann = users.new_user()
    ann.open("/play/13")
    ann.expect_status("X to move", "X_O/___/___")
    advice = analysis(users.server, "board=X_O/___/___&first=X&cells=places")
    assert {move["result"] for move in advice["moves"]} == {"win", "draw", "loss"}

    ann.button("Coach").click()

    expect(ann.button("Coach")).to_have_attribute("aria-pressed", "true")
    assert len(advice["moves"]) == 7
    for move in advice["moves"]:
        cell = ann.cell(move["cell"] + 1)
        best = ", best" if move["best"] else ""
        name = cell_name(move["cell"] + 1, f"free, {outcome_text(move)}{best}")
        expect(cell).to_have_accessible_name(name)
        expect(cell).to_contain_text(outcome_text(move))
        cell.focus()
        expect(ann.page.get_by_role("region", name="Coach")).to_contain_text(move["sentence"])
        expect(cell).to_have_accessible_description(move["sentence"])
    ann.screenshot("coach")


def test_late_advice_on_an_earlier_position_is_not_announced(users: Users) -> None:
    ann = users.new_user()
    ann.open("/play/1?first=X")
    held = ann.hold_requests("**/analysis?**")
    ann.press("Coach")
    question = ann.wait_for_held(held)
    ann.play(5)
    expect(ann.cell(9)).to_contain_text("draw")
    with ann.page.expect_response("**/analysis?board=X__/___/___**"):
        question.continue_()
    ann.play(9)
    ann.expect_announcement("X took the bottom right. O to move")
    assert "only safe cell" not in " ".join(ann.announcements)


def test_nobody_is_coached_in_secret(users: Users) -> None:
    """Not against a friend, but against a bot; and spectators are."""
    ann, bob = users.two_players()
    cid, dan = users.new_user("Cid"), users.new_user("Dan")
    cid.open(f"/game/{ann.game}")
    dan.start_game("bot", bot="perfect")
    for user, count in ((ann, 0), (bob, 0), (cid, 1), (dan, 1)):
        expect(user.page.get_by_role("grid")).to_be_visible()
        expect(user.button("Coach")).to_have_count(count)


def test_the_coach_follows_the_turn(users: Users) -> None:
    ann = users.new_user()
    ann.start_game()
    coach = ann.page.get_by_role("region", name="Coach")

    ann.button("Coach").click()
    expect(coach).to_contain_text("has three lines still open")
    ann.play(1)
    expect(coach).to_contain_text("The middle is the only safe cell")
    ann.expect_announcement(coach.locator("p").inner_text())
    expect(ann.cell(2)).to_have_accessible_name(cell_name(2, "free, loses in 6"))
    ann.button("Coach").click()

    expect(coach).to_be_hidden()
    expect(ann.cell(2)).to_have_accessible_name(cell_name(2, "free"))


def test_a_game_is_reviewed_move_by_move(users: Users) -> None:
    ann = users.new_user()
    ann.start_game()
    for number in (1, 2, 5, 9, 7, 3, 4):
        ann.play(number)
    ann.expect_status("Ann won", "XOO/XX_/X_O")
    review = analysis(users.server, "moves=1259734&first=X&cells=places")["review"]

    ann.button("Review").click()
    slider = ann.page.get_by_role("slider", name="Move")
    words = ann.page.get_by_role("region", name="Review")
    expect(slider).to_have_value("7")
    slider.focus()
    boards = ("___/___/___", "X__/___/___", "XO_/___/___", "XO_/_X_/___", "XO_/_X_/__O", "XO_/_X_/X_O")
    for step in range(6, -1, -1):
        ann.page.keyboard.press("ArrowLeft")
        expect(slider).to_have_value(str(step))
        if step:
            expect(words).to_contain_text(outcome_text(review["moves"][step - 1]))
        if step < len(boards):
            ann.expect_status("Ann won", boards[step])
    mistake = review["moves"][1]
    ann.button("One move forward").click()
    ann.button("One move forward").click()
    ann.expect_text("Move 2 of 7: Bob took the top middle")
    expect(words).to_contain_text(mistake["sentence"])
    expect(ann.page.get_by_test_id("note")).to_contain_text(
        f"The game turned on move {review['decisive']}: Bob took the top middle"
    )
    ann.button("Review").click()

    expect(slider).to_have_count(0)
    ann.expect_status("Ann won", "XOO/XX_/X_O")


def test_the_replay_link_shows_the_game(users: Users) -> None:
    ann, bob = users.new_user(permissions=["clipboard-read", "clipboard-write"]), users.new_user("Bob")
    ann.start_game(first="O")
    for number in (1, 4, 2, 5, 3):
        ann.play(number)

    ann.button("Copy replay link").click()
    ann.expect_text("Copied")
    link = ann.page.evaluate("navigator.clipboard.readText()")
    assert link == f"{users.server.url}/play/14253?first=O"
    bob.open(link)

    bob.expect_status("O won", "OOO/XX_/___")
    bob.button("One move back").click()
    bob.expect_status("O won", "OO_/XX_/___")
    bob.page.get_by_role("slider", name="Move").fill("0")
    bob.expect_status("O won", "___/___/___")


def test_a_replay_works_without_the_api(users: Users) -> None:
    ann = users.new_user()
    ann.allow_errors("ERR_FAILED")
    ann.page.route("**/api/**", lambda route: route.abort())
    ann.open("/replay/153246879")
    ann.expect_status("Draw", "XOX/XOO/OXX")
    ann.expect_text("No comments: The server cannot be reached.")
    ann.page.get_by_role("slider", name="Move").fill("2")
    ann.expect_status("Draw", "X__/_O_/___")
    assert ann.announcements[-1].startswith("Move 2 of 9: O took the middle.")


def test_an_address_that_is_not_a_game_is_explained(users: Users) -> None:
    ann = users.new_user()

    for address, words in (
        ("11", "Move 2 goes to a cell that is already taken."),
        ("10", "Move 2 is not a cell: cells are the digits 1 to 9."),
        ("142536", "Move 6 comes after the end of the game."),
        ("5?first=Z", "“Z” is not a mark: marks are X and O."),
        (
            "5?level=hardest",
            "There is no level “hardest”: the levels are Beginner, Easy, Medium, Hard, Unbeatable.",
        ),
    ):
        ann.open(f"/play/{address}")
        ann.expect_status("That is not a game")
        ann.expect_text(words)
    ann.press("Play a new game")
    ann.expect_status("Your move")


def test_the_event_log_is_live(users: Users) -> None:
    """Also to spectators."""
    ann, bob = users.two_players()
    cid = users.new_user("Cid")
    cid.open(f"/game/{ann.game}")
    for user in (ann, cid):
        user.page.get_by_text("Events", exact=True).click()
    events = [user.page.get_by_role("list", name="Events of the game") for user in (ann, cid)]
    before = ["gameCreated(X)", "playerJoined(X,Ann)", "playerJoined(O,Bob)", "gameReady()"]

    ann.play(3)
    bob.play(5)

    for shown in events:
        expect(shown.get_by_role("listitem").last).to_contain_text("playerActive(X)")
        texts = shown.get_by_role("listitem").all_text_contents()
        assert texts == numbered(event_texts(users.server, ann.game))
        assert not set(before) - {text.lstrip("0123456789") for text in texts}
        assert "playerPlacedToken(0,2,X)" in texts[-6]
    ann.resign()
    for shown in events:
        expect(shown.get_by_role("listitem").last).to_contain_text("gameCompleted(true)")
        assert shown.get_by_role("listitem").all_text_contents() == numbered(
            event_texts(users.server, ann.game)
        )


def analysis(server: Server, question: str) -> Any:
    with server.client() as client:
        return client.get(f"/analysis?{question}").json


def outcome_text(move: dict[str, Any]) -> str:
    return "draw" if move["result"] == "draw" else f"{VERBS[move['result']]} in {move['distance']}"


def numbered(events: list[str]) -> list[str]:
    return [f"{version}{event}" for version, event in enumerate(events, 1)]
