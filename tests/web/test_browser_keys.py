"""The game without a mouse and without a screen: by keys, and by what the live region says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

import web.browser
from noughts import PlaceToken, decide, describe, fold
from web.browser import stands

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from web.browser import People, Person

people = web.browser.people


def test_a_whole_game_by_keys_alone(people: People) -> None:
    """From the start page on: Tab, Enter, arrows and digits suffice, and the focus is never lost."""
    ann = people.come()
    ann.opens("/")
    tabs_to(ann, ann.page.get_by_role("link", name="Same screen"))
    ann.page.keyboard.press("Enter")
    tabs_to(ann, ann.page.get_by_label("Who plays X"))
    ann.page.keyboard.type("Ann")
    tabs_to(ann, ann.page.get_by_label("Who plays O"))
    ann.page.keyboard.type("Bob")
    tabs_to(ann, ann.page.get_by_role("radio", name="X", exact=True))
    ann.page.keyboard.press("ArrowRight")
    tabs_to(ann, ann.button("Play"))
    ann.page.keyboard.press("Enter")
    ann.sees("Bob to move", "___/___/___")

    tabs_to(ann, ann.cell(1))
    ann.shoots("keys")
    ann.page.keyboard.press("Enter")
    ann.sees("Ann to move", "O__/___/___")
    walks(ann, ("ArrowDown", 4), ("ArrowRight", 5), ("ArrowRight", 6), ("ArrowRight", 6))
    ann.page.keyboard.press("Space")
    ann.sees("Bob to move", "O__/__X/___")
    walks(
        ann, ("Home", 4), ("ArrowUp", 1), ("End", 3), ("ArrowLeft", 2), ("Control+End", 9), ("ArrowUp", 6)
    )
    for number, status, board in (
        (2, "Ann to move", "OO_/__X/___"),
        (5, "Bob to move", "OO_/_XX/___"),
        (3, "Bob won", "OOO/_XX/___"),
    ):
        ann.page.keyboard.press(str(number))
        ann.sees(status, board)

    tabs_to(ann, ann.button("Rematch"))
    ann.page.keyboard.press("Enter")
    ann.sees("Ann to move", "___/___/___")
    ann.page.keyboard.press("5")
    ann.sees("Bob to move", "___/_X_/___")
    tabs_to(ann, ann.button("Resign"))
    ann.page.keyboard.press("Enter")
    expect(ann.button("Yes, resign")).to_be_focused()
    ann.page.keyboard.press("Enter")
    ann.sees("Ann won")


def test_a_guest_who_uses_keys_alone_sits_down_and_plays(people: People) -> None:
    """The invitation, the name, the seat and the first move need no mouse either."""
    ann, bob = people.come("Ann"), people.come("Bob")
    bob.opens(ann.makes_link())

    tabs_to(bob, bob.page.get_by_label("Your name"))
    bob.page.keyboard.type("Bob")
    bob.page.keyboard.press("Enter")
    expect(bob.cell(1)).to_be_focused()
    ann.plays(5)
    bob.sees("Your move")
    bob.page.keyboard.press("ArrowRight")
    bob.page.keyboard.press("Enter")

    ann.sees("Your move", "_O_/_X_/___")


def test_digits_are_digits_where_one_types(people: People) -> None:
    """A digit in a field or in a dialog is no move."""
    ann = people.come()
    ann.opens(f"/game/{ann.creates('self', other='Bob')['id']}")
    ann.sees("Ann to move")

    ann.presses("Settings")
    expect(ann.page.get_by_role("dialog")).to_be_visible()
    ann.page.keyboard.press("5")
    ann.page.keyboard.press("Escape")
    expect(ann.page.get_by_role("dialog")).to_have_count(0)
    expect(ann.page.get_by_role("button", name="Settings")).to_be_focused()
    ann.page.keyboard.press("Control+5")
    ann.page.keyboard.press("1")

    ann.sees("Bob to move", "X__/___/___")


def test_each_move_is_spoken_in_the_words_of_the_description(people: People) -> None:
    """Player, opponent and spectator hear who went where, and then the position as Python tells it."""
    ann, bob = people.at_table()
    cid = people.come("Cid")
    cid.opens(f"/game/{ann.game}")
    expect(cid.status).to_have_text("Ann thinks")

    game = stands(people.server, ann.game)

    for person, number in zip((ann, bob) * 5, (5, 1, 9, 3, 2, 8, 4, 6, 7), strict=False):
        mark = game.board.turn
        game = fold(decide(game, PlaceToken(mark, number - 1)), game)
        person.plays(number)
        for listener in (ann, bob, cid):
            listener.hears(f"{person.name} ({mark}) on {number}. {describe(game)}")

    assert describe(game).endswith("the game is drawn.")
    assert len([text for text in cid.heard if text.endswith(("to move.", "drawn."))]) == 9


def test_what_cannot_be_played_is_said_and_not_done(people: People) -> None:
    """A cell that is taken, and a turn that is the other's, are answered in words."""
    ann, bob = people.at_table()
    ann.page.keyboard.press("5")
    ann.sees("Bob thinks", "___/_X_/___")

    ann.page.keyboard.press("1")
    ann.hears("It is Bob's turn.")
    bob.page.keyboard.press("5")
    bob.hears("Cell 5 is taken.")

    bob.sees("Your move", "___/_X_/___")
    assert stands(people.server, ann.game).moves == (4,)


def tabs_to(person: Person, wanted: Locator) -> None:
    """Press Tab until the focus is where it is wanted; every stop on the way shows that it has it."""
    expect(wanted).to_be_visible()
    for _ in range(40):
        if wanted.evaluate("element => element === document.activeElement"):
            return
        person.page.keyboard.press("Tab")
        assert person.page.evaluate("document.activeElement.matches('body, :focus-visible')")
    raise AssertionError(f"no Tab leads to {wanted}")


def walks(person: Person, *steps: tuple[str, int]) -> None:
    """Press keys, each of which leads to a cell."""
    for key, number in steps:
        person.page.keyboard.press(key)
        expect(person.cell(number)).to_be_focused()
