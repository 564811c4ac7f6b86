"""Many tabs of one browser: those that nobody sees close their stream, and poll."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from support.web.browser import Users

# What a browser tells a page whose tab is hidden or shown.
SET = """(state) => {
  Object.defineProperty(document, "hidden", { value: state === "hidden", configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def test_a_hidden_tab_polls_and_shows_whose_move_it_is_in_its_title(users: Users) -> None:
    ann, bob = users.two_players()
    ann.page.clock.install()
    ann.page.reload()
    ann.expect_status("Your move")
    ann.play(5)
    ann.expect_status("Bob is thinking")
    expect(bob.seat("X")).to_contain_text("connected")

    ann.page.evaluate(SET, "hidden")
    expect(bob.seat("X")).to_contain_text("away")
    bob.play(1)
    bob.expect_status("Ann is thinking")
    ann.page.clock.fast_forward(11_000)
    expect(ann.page).to_have_title("Your move · noughts")
    ann.advance_clock(5)  # and pause it: the page does not poll again
    ann.page.evaluate(SET, "visible")

    expect(bob.seat("X")).to_contain_text("connected")
    ann.page.clock.resume()
    ann.play(9)
    bob.expect_status("Your move", "O__/_X_/__X")


def test_a_hidden_tab_that_waits_for_an_opponent_keeps_its_stream(users: Users) -> None:
    """So that the game stays in the lobby; the clock is paused, so nothing is polled."""
    ann, bob = users.new_user(), users.new_user("Bob")
    seat = ann.create_game("lobby")
    ann.page.clock.install()
    ann.open(f"/game/{seat['id']}")
    ann.expect_status("Waiting for an opponent")
    ann.page.evaluate(SET, "hidden")
    ann.advance_clock(1)

    bob.join_game(seat["id"], None)
    bob.open(f"/game/{seat['id']}")

    bob.expect_status("Ann is thinking")
    for _ in range(1000):
        ann.page.clock.run_for(2)
        if ann.page.title() == "Your move · noughts":
            break
    expect(ann.page).to_have_title("Your move · noughts")
    expect(bob.seat("X")).to_contain_text("away")  # now that it need not be seen


def test_seven_tabs_of_one_browser_work(users: Users) -> None:
    """On HTTP/1.1 a browser has six connections to a server; each stream would take one."""
    ann = users.new_user()
    tabs: list[Page] = []
    for _ in range(7):
        for tab in tabs:
            tab.evaluate(SET, "hidden")
        tab = ann.context.new_page()
        tab.goto(f"/game/{ann.create_game('self', other='Bob')['id']}")
        expect(tab.get_by_role("heading", level=1)).to_have_text("Ann to move")
        tabs.append(tab)

    for tab in tabs:
        tab.get_by_role("gridcell", name="The middle: free").click()
        expect(tab).to_have_title(re.compile("Bob to move"))
