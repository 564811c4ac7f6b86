"""Every screen as axe sees it, in the light and in the dark; and a picture of each."""

from __future__ import annotations

from playwright.sync_api import expect

from support.web.browser import People, Person, faults


def test_axe_finds_nothing_before_a_game(people: People) -> None:
    ann = people.come()

    for screen, path, status in (
        ("start", "/", "Three in a row."),
        ("setup-friend", "/#friend", "Play a friend"),
        ("setup-computer", "/#computer", "Play the computer"),
    ):
        ann.opens(path)
        ann.sees(status)
        if screen == "setup-computer":
            expect(
                ann.page.get_by_role("group", name="Opponents").get_by_role("button").first
            ).to_be_visible()
        is_sound(ann, screen)


def test_axe_finds_nothing_beside_a_game(people: People) -> None:
    """On the screens that a link leads to, also one that leads nowhere."""
    ann = people.come()
    ann.foresees("404")

    for screen, path, status in (
        ("lobby-open", "/lobby#open", "Open a table"),
        ("replay", "/replay/15263", "X won"),
        ("no-such-game", f"/game/{'a' * 26}", "There is no such game."),
    ):
        ann.opens(path)
        ann.sees(status)
        if screen == "replay":
            expect(ann.page.get_by_role("region", name="Review")).to_contain_text("1 mistake")
        is_sound(ann, screen)


def test_axe_finds_nothing_in_the_lobby_and_in_the_settings(people: People) -> None:
    """With tables in the lists, and with the dialog above them."""
    bob = people.come("Bob")
    with people.server.client() as ann:
        ann.create("lobby", name="Ann")
        bob.joins(ann.create("lobby", name="Ann")["id"], None)
    bob.opens("/lobby")
    for title in ("Waiting for an opponent", "Being played"):
        expect(bob.page.get_by_role("region", name=title).get_by_role("link").first).to_be_visible()

    is_sound(bob, "lobby")
    bob.presses("Settings")
    expect(bob.page.get_by_role("dialog")).to_be_visible()
    is_sound(bob, "settings")


def test_axe_finds_nothing_at_a_table_for_two(people: People) -> None:
    """While one waits, while the other is invited, in the game, and when something is asked."""
    ann, bob = people.come("Ann"), people.come("Bob")
    link = ann.makes_link()
    expect(ann.page.get_by_role("img", name="QR code of the link")).to_be_visible()
    is_sound(ann, "waiting")
    bob.opens(link)
    expect(bob.button("Take the seat")).to_be_visible()
    is_sound(bob, "join")
    bob.sits()
    ann.plays(5)
    bob.sees("Your move", "___/_X_/___")
    is_sound(bob, "game")
    ann.button("Take back").click()
    expect(bob.button("Allow")).to_be_visible()
    is_sound(bob, "game-asked")


def test_axe_finds_nothing_with_coach_and_events(people: People) -> None:
    """With every cell labelled, with the drawer open, when the game is over, and in its review."""
    ann = people.come()
    ann.opens(f"/game/{ann.creates('self', other='Bob')['id']}")
    ann.plays(1)
    ann.plays(3)
    ann.button("Coach").click()
    expect(ann.cell(2)).to_contain_text("loses in")
    is_sound(ann, "game-coach")
    ann.page.get_by_text("Events", exact=True).click()
    is_sound(ann, "game-events")
    for number in (4, 7, 5, 9, 6):
        ann.plays(number)
    ann.sees("Ann won")
    is_sound(ann, "over")
    ann.button("Review").click()
    expect(ann.page.get_by_role("region", name="Review")).to_contain_text("1 mistake; decided by move 2")
    is_sound(ann, "review")


def is_sound(person: Person, screen: str) -> None:
    """Have axe look at a screen, and keep two pictures of it."""
    assert faults(person.page) == []
    person.shoots(f"{screen}-dark")
    person.page.emulate_media(color_scheme="light")
    person.shoots(f"{screen}-light")
