"""Two people, two browsers and a link."""

from __future__ import annotations

from base64 import b64encode

import zxingcpp
from playwright.sync_api import expect

from support.web.browser import SCHEMES, People, Person, stands

# A picture as its pixels, one character each: how bright it is.
GREY = """async (source) => {
  const image = new Image();
  image.src = source;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
  canvas.drawImage(image, 0, 0);
  const { data } = canvas.getImageData(0, 0, image.width, image.height);
  const pixels = Array.from({ length: data.length / 4 }, (_, at) => String.fromCharCode(data[4 * at]));
  return [image.height, image.width, pixels.join("")];
}"""


def test_two_browsers_play_a_whole_game_by_link(people: People) -> None:
    """One makes the link, the other opens it and sits down, and they play until one wins."""
    ann, bob = people.come("Ann"), people.come("Bob")
    link = ann.makes_link()

    bob.opens(link)
    expect(bob.status).to_have_text("Ann invites you")
    bob.reads("You play O. X starts.")
    bob.sits()
    expect(bob.page).to_have_url(link.partition("#")[0])
    for person, number in zip((ann, bob) * 3, (1, 5, 2, 6, 3), strict=False):
        person.plays(number)

    for person in (ann, bob):
        person.sees("You won" if person is ann else "Ann won", "XXX/_OO/___")
        for number in (1, 2, 3):
            name = f"Cell {number}: X, in the winning line"
            expect(person.cell(number)).to_have_accessible_name(name)
        expect(person.seat("X")).to_contain_text("Ann")
        expect(person.seat("O")).to_contain_text("Bob")
        expect(person.page.get_by_role("img", name="Score: X 1, O 0, draws 0")).to_be_visible()
        assert "#" not in person.page.url
    assert str(stands(people.server, ann.game).board) == "XXX/_OO/___"


def test_the_link_is_copied_and_scanned_as_it_stands(people: People) -> None:
    """The button copies it, a camera that looks at the picture finds it, a reload brings it back."""
    ann = people.come(permissions=["clipboard-read", "clipboard-write"])
    link = ann.makes_link()

    ann.button("Copy link").click()

    expect(ann.button("Copied")).to_be_visible()
    assert ann.page.evaluate("navigator.clipboard.readText()") == link
    for scheme in SCHEMES:
        ann.page.emulate_media(color_scheme=scheme)
        assert scanned(ann) == [link]
    ann.page.reload()
    expect(ann.page.get_by_label("Link for your friend")).to_have_value(link)


def test_an_invitation_works_once(people: People) -> None:
    """Who only watches leaves the seat to another; once it is taken, the link is good for watching."""
    ann, bob, cid = (people.come(name) for name in ("Ann", "Bob", "Cid"))
    link = ann.makes_link()
    cid.opens(link)
    cid.presses("Just watch")
    cid.sees("Waiting for a player", "___/___/___")
    bob.opens(link)
    bob.sits()
    ann.plays(5)
    cid.sees("Bob thinks", "___/_X_/___")

    cid.page.reload()

    cid.sees("Bob thinks", "___/_X_/___")
    cid.reads("You are watching.")
    expect(cid.button("Take the seat")).to_have_count(0)
    expect(cid.button("Resign")).to_be_hidden()
    cid.tries(1)
    bob.plays(9)
    cid.sees("Ann thinks", "___/_X_/__O")


def test_the_slower_of_two_is_told_that_the_seat_is_gone(people: People) -> None:
    """Who sees a free seat that somebody takes meanwhile is refused in words, and watches then."""
    ann, bob, cid = (people.come(name) for name in ("Ann", "Bob", "Cid"))
    cid.foresees("404")
    link = ann.makes_link()
    cid.holds("**/events*", most=9)  # so that they hear of nothing
    cid.opens(link)
    expect(cid.button("Take the seat")).to_be_visible()
    bob.opens(link)
    bob.sits()
    expect(bob.status).to_have_text("Ann thinks")

    cid.presses("Take the seat")

    cid.reads("This invitation is wrong, or somebody has used it.")
    expect(cid.status).to_have_text("Ann thinks")
    expect(cid.button("Take the seat")).to_have_count(0)


def test_a_spectator_sees_the_game_live(people: People) -> None:
    """Whoever has the game's address watches, is counted, and cannot play."""
    ann, bob = people.at_table()
    cid = people.come("Cid")

    cid.opens(f"/game/{ann.game}")

    for person in (ann, bob, cid):
        person.reads("1 watching")
    ann.plays(5)
    cid.sees("Bob thinks", "___/_X_/___")
    bob.plays(1)
    cid.sees("Ann thinks", "O__/_X_/___")
    cid.page.keyboard.press("9")
    cid.tries(9)
    ann.plays(3)
    cid.sees("Bob thinks", "O_X/_X_/___")
    assert stands(people.server, ann.game).moves == (4, 0, 2)


def test_a_player_who_goes_away_and_comes_back_is_seen_to(people: People) -> None:
    """The opponent's seat tells whether anybody is there."""
    ann, bob = people.at_table()
    address = bob.page.url
    expect(ann.seat("O")).to_contain_text("connected")

    bob.page.goto("about:blank")
    expect(ann.seat("O")).to_contain_text("away")
    bob.page.goto(address)

    expect(ann.seat("O")).to_contain_text("connected")
    expect(ann.seat("X")).to_contain_text("you")


def test_a_game_goes_on_after_a_reload(people: People) -> None:
    """A page that is loaded anew in the middle of a game has the seat, the position and the turn."""
    ann, bob = people.at_table()
    ann.plays(5)
    bob.plays(1)
    ann.sees("Your move", "O__/_X_/___")

    ann.page.reload()
    bob.page.reload()

    ann.sees("Your move", "O__/_X_/___")
    bob.sees("Ann thinks", "O__/_X_/___")
    ann.plays(3)
    bob.sees("Your move", "O_X/_X_/___")
    bob.plays(7)
    ann.sees("Your move", "O_X/_X_/O__")


def scanned(person: Person) -> list[str]:
    """Return what a camera reads that looks at the code on somebody's screen."""
    code = person.page.get_by_role("img", name="QR code of the link")
    picture = code.screenshot(type="png")
    height, width, pixels = person.page.evaluate(
        GREY, f"data:image/png;base64,{b64encode(picture).decode()}"
    )
    grey = memoryview(pixels.encode("latin-1")).cast("B", (height, width))
    return [found.text for found in zxingcpp.read_barcodes(grey)]
