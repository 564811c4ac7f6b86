"""The game without a mouse and without a screen: by keys, and by what the live region says."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, expect

from support.web.browser import People, Person, stands


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


def test_each_move_is_announced_with_the_sentence_on_the_screen(people: People) -> None:
    """Players are "You" to themselves and a name to everybody else, and nothing is announced twice."""
    ann, bob = people.at_table()
    cid = people.come("Cid")
    cid.opens(f"/game/{ann.game}")
    expect(cid.status).to_have_text("Ann thinks")

    for person, number in zip((ann, bob) * 5, (5, 1, 9, 3, 2, 8, 4, 6, 7), strict=False):
        following = bob if person is ann else ann
        person.plays(number)
        for listener in (ann, bob, cid):
            who = "You" if listener is person else person.name
            state = "Your move" if listener is following else f"{following.name} thinks"
            listener.hears(f"{who} on {number}. {'Draw' if number == 7 else state}")

    for listener in (ann, bob, cid):
        heard = listener.heard
        assert len(heard) == 9
        assert [text.partition(". ")[2] for text in heard] == listener.shown


def test_a_win_is_seen_and_announced_alike(people: People) -> None:
    """The winner has won; the other player and who watches get the winner's name."""
    ann, bob = people.at_table()
    cid = people.come("Cid")
    cid.opens(f"/game/{ann.game}")

    for person, number in zip((ann, bob) * 3, (1, 5, 2, 6, 3), strict=False):
        person.plays(number)

    ann.sees("You won", "XXX/_OO/___")
    ann.hears("You on 3. You won")
    ann.shoots("won")
    for person in (bob, cid):
        person.sees("Ann won", "XXX/_OO/___")
        person.hears("Ann on 3. Ann won")
    bob.shoots("lost")


def test_a_bot_has_one_name_for_eyes_and_ears(people: People) -> None:
    """Its moves are announced by the name on its seat, never by the one in the record."""
    ann = people.come()
    ann.opens(f"/game/{ann.creates('bot', bot='perfect', first='O')['id']}")
    expect(ann.seat("O")).to_contain_text("Perfect")
    ann.sees("Your move")

    while not (game := stands(people.server, ann.game)).is_over:
        ann.plays(game.board.free_cells[0] + 1)
        left = len(game.board.free_cells) - 2
        expect(ann.page.get_by_role("gridcell", name="free")).to_have_count(left)

    ann.hears(f"Perfect on {game.moves[-1] + 1}. {'Perfect won' if game.winner else 'Draw'}")
    wording = re.compile(r"((You|Perfect) on [1-9]\. )+(Your move|Perfect thinks|Perfect won|Draw)")
    assert [text for text in ann.heard if not wording.fullmatch(text)] == []


def test_two_at_one_screen_are_announced_by_name(people: People) -> None:
    ann = people.come()
    ann.opens(f"/game/{ann.creates('self', other='Bob')['id']}")

    ann.plays(5)
    ann.hears("Ann on 5. Bob to move")
    ann.button("Take back").click()
    ann.hears("Ann took back. Ann to move")
    ann.button("Resign").click()
    ann.button("Yes, resign").click()

    ann.hears("Ann resigned. Bob won")
    ann.sees("Bob won")
    ann.reads("Ann resigned.")


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


PRESSED_AT_ONCE = """() => {
    const press = (key) => document.dispatchEvent(new KeyboardEvent("keydown", {key}));
    const status = document.querySelector(".status");
    new MutationObserver((_, observer) => {
        if (status.textContent !== "Bob thinks") return;
        observer.disconnect();
        press("1");
    }).observe(status, {childList: true, characterData: true, subtree: true});
    press("5");
}"""


def test_what_is_pressed_before_a_move_is_announced_is_answered_after_it(people: People) -> None:
    ann, _ = people.at_table()

    ann.page.evaluate(PRESSED_AT_ONCE)

    ann.hears("You on 5. Bob thinks. It is Bob's turn.")


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
    for key, number in steps:
        person.page.keyboard.press(key)
        expect(person.cell(number)).to_be_focused()
