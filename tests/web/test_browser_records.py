"""Your games: what the browser keeps, to continue, to look at, to export and to delete."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from support.web.browser import User, Users


def test_an_open_game_is_continued(users: Users) -> None:
    ann = users.new_user()
    ann.open("/")
    ann.play(5)
    expect(ann.page.get_by_role("gridcell", name="free")).to_have_count(7)
    address = ann.page.evaluate("location.href")

    ann.open("/")
    card = ann.page.get_by_role("region", name="Your games")
    expect(card).to_contain_text("Medium")
    expect(card).to_contain_text("your move")
    ann.press("Continue")

    expect(ann.page).to_have_url(address)
    expect(ann.page.get_by_role("gridcell", name="free")).to_have_count(7)


def test_a_game_is_listed_once_and_forgotten_when_it_is_given_up(users: Users) -> None:
    ann = users.new_user()
    ann.open("/play/5?first=X")  # two people at one screen
    for number in (1, 9, 3):
        ann.play(number)
    ann.press("Take back", "Take back")
    ann.play(2)
    ann.expect_status("O to move", "OX_/_X_/___")
    ann.open("/games")
    row = ann.page.get_by_role("listitem")
    expect(row).to_have_count(1)
    expect(row.get_by_role("link")).to_have_attribute("href", "/play/512?first=X")

    ann.press("Continue", "New game")
    ann.expect_status("X to move", "___/___/___")
    ann.open("/games")
    expect(ann.page.get_by_text("No games yet.")).to_be_visible()


def test_results_and_streaks_are_counted_at_each_level(users: Users) -> None:
    ann = users.new_user()
    win(ann, "easy")
    draw(ann, "easy")
    for won_at in ("easy", "unbeatable"):
        win(ann, won_at)
    lose(ann)

    ann.open("/games")

    rows = ann.page.get_by_role("table", name="Results").get_by_role("row")
    expect(rows).to_have_count(3)
    assert texts(rows.nth(1)) == ["Easy", "2", "1", "0", "3", "3"]
    assert texts(rows.nth(2)) == ["Unbeatable", "1", "0", "1", "0", "1"]
    ann.screenshot("games")
    history = ann.page.get_by_role("listitem")
    expect(history).to_have_count(5)
    expect(history.first).to_contain_text("you lost, just now")
    history.last.get_by_role("link", name="Replay").click()
    ann.expect_status("You won", "XXX/_OO/___")
    expect(ann.page.get_by_test_id("note")).not_to_be_empty()
    expect(ann.page.get_by_test_id("review")).to_contain_text("wins")
    ann.open("/play/?level=unbeatable")
    expect(ann.page.get_by_test_id("note")).to_contain_text("You: 1 won, 0 drawn, 1 lost.")


def test_the_newest_200_games_are_kept(users: Users) -> None:
    won = {"moves": [0, 4, 1, 5, 2], "first": "X", "you": "X"}
    levels = [*199 * ["easy"], "beginner"]
    kept = [{"at": 1, "result": "won", "local": {**won, "level": level}} for level in levels]
    ann = users.new_user()
    ann.open("/robots.txt")
    ann.page.evaluate("kept => localStorage.setItem('noughts.games', kept)", json.dumps(kept))
    win(ann, "hard")
    ann.open("/games")
    names = ann.page.get_by_role("listitem").locator("strong")
    expect(names).to_have_text(["Hard", *199 * ["Easy"]])


def test_games_with_friends_are_listed_with_whose_move_it_is(users: Users) -> None:
    """As the server has them now; one that is gone is forgotten."""
    ann, bob = users.two_players()
    bob.allow_errors("404")
    gone = ann.create_game("friend")["id"]
    bob.page.evaluate(
        "id => localStorage.setItem('noughts.games', JSON.stringify([...JSON.parse("
        "localStorage.getItem('noughts.games')), {at: Date.now(), result: null, id, opponent: 'Cid'}]))",
        gone[::-1],
    )
    for user, sentence in ((ann, "your move"), (bob, "their move")):
        user.open("/games")
        row = user.page.get_by_role("listitem")
        expect(row).to_have_count(1)
        expect(row).to_contain_text("Bob" if user is ann else "Ann")
        expect(row).to_contain_text(sentence)
    ann.press("Continue")
    ann.expect_status("Your move", "___/___/___")
    ann.play(5)
    bob.page.evaluate(LOOK_AGAIN)
    expect(bob.page.get_by_role("listitem")).to_contain_text("your move")


# What a browser tells a page that is shown again; it looks every ten seconds anyway.
LOOK_AGAIN = "document.dispatchEvent(new Event('visibilitychange'))"


def test_a_game_waits_in_the_list_until_a_friend_comes(users: Users) -> None:
    ann, bob = users.new_user(), users.new_user("Bob")
    link = ann.create_link()
    ann.open("/")
    card = ann.page.get_by_role("region", name="Your games")
    expect(card).to_contain_text("Waiting for a player")
    bob.open(link)
    bob.take_seat()
    ann.page.evaluate(LOOK_AGAIN)
    expect(card).to_contain_text("Bobyour move")


def test_a_proxy_that_finds_nothing_makes_the_page_forget_nothing(users: Users) -> None:
    ann, _ = users.two_players()
    ann.allow_errors("404")
    ann.page.route("**/api/v1/games/*", lambda route: route.fulfill(status=404, body="<h1>Oops</h1>"))
    with ann.page.expect_response("**/api/v1/games/*"):
        ann.open("/games")
    with ann.page.expect_response("**/api/v1/games/*"):  # after the first was seen
        ann.page.evaluate(LOOK_AGAIN)
    expect(ann.page.get_by_role("listitem")).to_contain_text("Bob")


def test_a_game_that_only_the_computer_has_moved_in_is_not_listed(users: Users) -> None:
    ann = users.new_user()
    ann.open("/")
    ann.press("Play O")
    expect(ann.page.get_by_role("gridcell", name="free")).to_have_count(8)
    ann.open("/games")
    expect(ann.page.get_by_text("No games yet.")).to_be_visible()


def test_games_are_exported_and_deleted(users: Users, tmp_path: Path) -> None:
    ann = users.new_user()
    win(ann, "easy")
    ann.open("/games")

    with ann.page.expect_download() as download:
        ann.press("Export")
    download.value.save_as(tmp_path / "noughts.json")
    ann.press("Delete…", "Cancel")
    expect(ann.page.get_by_role("listitem")).to_have_count(1)
    ann.press("Delete…")
    ann.page.get_by_role("dialog").get_by_role("button", name="Delete").click()

    expect(ann.page.get_by_text("No games yet.")).to_be_visible()
    ann.page.reload()
    expect(ann.page.get_by_text("No games yet.")).to_be_visible()
    kept = json.loads((tmp_path / "noughts.json").read_text())
    assert kept["results"] == {"easy": {"won": 1, "drawn": 0, "lost": 0, "streak": 1, "best": 1}}
    (game,) = kept["games"]
    assert game["local"] == {"moves": [0, 4, 1, 5, 2], "first": "X", "level": "easy", "you": "X"}
    assert game["result"] == "won"


@pytest.mark.parametrize(
    "kept",
    [
        {"level": '"nightmare"', "theme": '"pink"', "name": "5", "results": "[1]", "games": '{"a": 1}'},
        {
            "level": "[]",
            "theme": "0",
            "name": '"' + 33 * "n" + '"',
            "results": "5",
            "games": "[null, 1, {}]",
        },
        {"level": "}", "games": '[{"at": 1, "result": null, "local": {}}, {"at": "x", "id": "a"}]'},
        {"games": '[{"at": 1, "result": null, "local": {"moves": [0, 0], "first": "X", "level": null}}]'},
        {"games": '[{"at": 1, "result": "great", "id": "a"}]', "invites": "5"},
        {"games": '[{"at": 1, "result": null, "id": "../../nowhere", "opponent": null}]'},
        {
            "games": '[{"at": 1, "result": null, "local": {"moves": [], "first": "Z", "level": null}}]',
            "results": '{"easy": {"won": "3", "drawn": {}, "lost": 0, "streak": 0, "best": 0}}',
        },
    ],
)
def test_storage_that_another_version_or_person_has_changed(users: Users, kept: dict[str, str]) -> None:
    """What makes no sense is ignored, and replaced."""
    ann = users.new_user()
    ann.open("/robots.txt")
    for key, text in kept.items():
        ann.page.evaluate("([key, text]) => localStorage.setItem(`noughts.${key}`, text)", [key, text])
    ann.open("/")
    expect(ann.page.get_by_role("radio", name="Medium")).to_be_checked()
    win(ann, "easy")
    ann.open("/games")
    expect(ann.page.get_by_role("listitem")).to_have_count(1)
    ann.open("/")
    ann.press("Get a link")
    expect(ann.status).to_have_text("Waiting for your friend")


def test_a_browser_without_storage_plays_all_the_same(users: Users) -> None:
    ann = users.new_user()
    ann.page.add_init_script(
        "Object.defineProperty(window, 'localStorage', {get() { throw new Error(); }})"
    )
    win(ann, "easy")
    ann.open("/games")
    expect(ann.page.get_by_text("No games yet.")).to_be_visible()


def win(user: User, level: str) -> None:
    """Play the winning move of a game, which is so counted."""
    user.open(f"/play/1526?first=X&level={level}")
    user.play(3)
    user.expect_status("You won")
    expect(user.page.get_by_test_id("note")).not_to_be_empty()


def draw(user: User, level: str) -> None:
    user.open(f"/play/12354687?first=X&level={level}")
    user.play(9)
    user.expect_status("Draw")
    expect(user.page.get_by_test_id("note")).not_to_be_empty()


def lose(user: User) -> None:
    """Let the computer complete a line: the other levels may overlook it."""
    user.open("/play/1526?first=X&level=unbeatable")
    user.play(9)
    user.expect_status("Unbeatable won")
    expect(user.page.get_by_test_id("note")).not_to_be_empty()


def texts(row: Locator) -> list[str]:
    return row.locator("th, td").all_text_contents()
