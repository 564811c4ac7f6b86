"""Parts of the page that cannot be loaded: the server is gone, or has another version."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from support.web.browser import User, Users

OUTDATED = "This page is out of date: the server has a newer version."
AWAY = "The server cannot be reached."


def test_a_game_that_goes_on_without_a_server_is_kept_and_celebrated(users_of_own_server: Users) -> None:
    """On plain http, other than at localhost, nothing is kept for later: it is loaded before."""
    ann = users_of_own_server.new_distant_user()
    ann.page.goto("/", wait_until="networkidle")
    ann.expect_status("Your move")
    assert not ann.page.evaluate("'serviceWorker' in navigator")

    users_of_own_server.server.kill()

    ann.press("On this screen")
    for number in (1, 5, 2, 6, 3):
        ann.play(number)
    ann.expect_status("X won", "XXX/_OO/___")
    expect(ann.page.get_by_test_id("note")).to_contain_text("The game turned on move 4")
    expect(ann.page.get_by_role("region", name="Your games")).to_contain_text("X won, just now")
    ann.press("Settings")
    ann.press("Done")
    ann.press("Get a link")
    expect(ann.page.get_by_role("alert")).to_have_text(AWAY)


@pytest.mark.parametrize("part", ["settings", "friends", "coach"])
def test_a_part_that_is_missing_is_said_where_it_was_asked_for(
    users_of_own_server: Users, part: str
) -> None:
    """The page has not had the time to load it; nothing offers to reload a page that would be lost."""
    ann = users_of_own_server.new_user()
    ann.open("/")
    ann.expect_status("Your move")
    users_of_own_server.server.kill()

    ann.press({"settings": "Settings", "friends": "Get a link", "coach": "Coach"}[part])

    ann.expect_text(AWAY)
    expect(ann.button("Reload")).to_have_count(0)
    ann.play(5)
    expect(ann.page.get_by_role("gridcell", name="free")).to_have_count(7)


def test_a_page_without_its_data_or_its_scripts_says_so(users: Users) -> None:
    """It is between two versions: the server has the files of another."""
    for missing in ("data.json", "page.js"):
        ann = users.new_user()
        ann.allow_errors("404", "data.json could not be loaded")
        ann.page.route(f"**/{missing}", lambda route: route.fulfill(status=404, json={}))
        ann.open("/")
        if missing == "page.js":  # a while later
            ann.page.locator("#unloaded").evaluate("(one) => one.getAnimations()[0].finish()")
        expect(ann.page.get_by_text("The page could not be loaded.")).to_be_visible()


def test_an_old_page_asks_to_reload_when_a_game_is_played(users: Users) -> None:
    ann = newer_server(users.new_user(), "records.js", "celebration.js", "turning_point.js")
    ann.open("/")
    ann.play(5)
    expect(ann.page.get_by_role("alert")).to_have_text(OUTDATED)
    expect(ann.page.get_by_role("gridcell", name="free")).to_have_count(7)


def test_an_old_page_asks_to_reload_when_a_screen_is_missing(users: Users) -> None:
    for missing, address in (("board.js", "/"), ("lobby.js", "/lobby")):
        ann = newer_server(users.new_user(), missing)
        ann.open(address)
        ann.expect_status("This part of the page could not be loaded.")
        expect(ann.page.get_by_role("alert")).to_have_text(OUTDATED)


def test_a_link_is_got_although_the_game_goes_on_meanwhile(users: Users) -> None:
    ann = users.new_user()
    ann.open("/")
    held = ann.hold_requests("**/api/v1/games")
    ann.press("Get a link")
    request = ann.wait_for_held(held)
    ann.play(5)
    expect(ann.page.get_by_role("gridcell", name="free")).to_have_count(7)
    request.continue_()
    ann.expect_status("Waiting for your friend")


def newer_server(user: User, *missing: str) -> User:
    """Let a server have another version of the page, without some of its files."""
    user.allow_errors("404", "ERR_ABORTED")
    user.page.route("**/worker.js", lambda route: route.fulfill(body="another version"))
    for name in missing:
        user.page.route(f"**/{name}", lambda route: route.fulfill(status=404, json={}))
    return user
