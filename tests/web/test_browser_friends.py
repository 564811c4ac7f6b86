"""Two people in two browsers, with a link."""

from __future__ import annotations

from base64 import b64encode

import zxingcpp
from playwright.sync_api import expect

from support.web.browser import SCHEMES, User, Users, cell_name, play_in_turn, read_game

# A picture as its pixels, one character each: how bright it is.
READ_PIXELS = """async (source) => {
  const image = new Image();
  image.src = source;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
  canvas.drawImage(image, 0, 0);
  const { data } = canvas.getImageData(0, 0, image.width, image.height);
  const pixels = Array.from({ length: data.length / 4 }, (_, at) => String.fromCharCode(data[4 * at]));
  return [image.height, image.width, pixels.join("")];
}"""


def test_two_browsers_play_a_whole_game_by_link(users: Users) -> None:
    ann, bob = users.new_user("Ann"), users.new_user("Bob")
    link = ann.create_link()

    bob.open(link)
    expect(bob.status).to_have_text("Ann invites you")
    bob.expect_text("You play O; your opponent starts.")
    ann.button("Copy link").focus()
    bob.take_seat()
    expect(ann.cell(1)).to_be_focused()  # the button is gone
    expect(bob.page).to_have_url(link.partition("#")[0])
    play_in_turn(ann, bob, 1, 5, 2, 6, 3)

    for user in (ann, bob):
        user.expect_status("You won" if user is ann else "Ann won", "XXX/_OO/___")
        for number in (1, 2, 3):
            name = cell_name(number, "X, in the winning line")
            expect(user.cell(number)).to_have_accessible_name(name)
        expect(user.seat("X")).to_contain_text("Ann")
        expect(user.seat("O")).to_contain_text("Bob")
        expect(user.page.get_by_role("img", name="Score: X 1, O 0, draws 0")).to_be_visible()
        assert "#" not in user.page.url
    assert str(read_game(users.server, ann.game).board) == "XXX/_OO/___"


def test_the_link_can_be_copied_and_scanned(users: Users) -> None:
    ann = users.new_user(permissions=["clipboard-read", "clipboard-write"])
    link = ann.create_link()

    ann.button("Copy link").click()

    expect(ann.button("Copied")).to_be_visible()
    assert ann.page.evaluate("navigator.clipboard.readText()") == link
    ann.page.reload()
    expect(ann.page.get_by_label("Link for your friend")).to_have_value(link)


def test_an_invitation_is_two_taps_away(users: Users) -> None:
    ann = users.new_user(permissions=["clipboard-read", "clipboard-write"])
    ann.open("/")

    ann.button("Get a link").click()
    ann.button("Copy link").click()

    expect(ann.button("Copied")).to_be_visible()
    link = ann.page.evaluate("navigator.clipboard.readText()")
    assert link == ann.page.get_by_label("Link for your friend").input_value()


def test_a_link_can_be_scanned(users: Users) -> None:
    ann = users.new_distant_user()
    link = ann.create_link()

    for scheme in SCHEMES:
        ann.page.emulate_media(color_scheme=scheme)
        assert scan_code(ann) == [link]
    expect(ann.page.get_by_text("works on this computer only")).to_have_count(0)


def test_a_link_to_this_machine_only_says_so(users: Users) -> None:
    ann = users.new_user()
    ann.create_link()
    ann.expect_text("This link works on this computer only, because its address is 127.0.0.1.")
    expect(ann.page.get_by_role("img", name="QR code of the link")).to_have_count(0)


def test_a_link_that_is_cut_off_says_so(users: Users) -> None:
    """In the middle of the game's name, or before the invitation."""
    ann, bob = users.new_user("Ann"), users.new_user("Bob")
    link = ann.create_link()

    for cut in (link.partition("#")[0], link[:-4]):
        bob.open(cut)
        bob.expect_status("That link is cut off")
        bob.expect_text("The end of this link is missing.")
        expect(bob.button("Take the seat")).to_have_count(0)
    bob.open(link)
    bob.expect_status("Ann invites you")
    bob.open(link.partition("#")[0])
    bob.press("Just watch")
    bob.expect_status("Waiting for a player", "___/___/___")
    bob.open(link.partition("#")[0][:-5])

    bob.expect_status("That link is cut off")
    bob.press("To the board")
    bob.expect_status("Your move")


def test_who_only_watches_can_still_take_the_seat(users: Users) -> None:
    ann, bob = users.new_user("Ann"), users.new_user("Bob")
    bob.open(ann.create_link())
    bob.press("Just watch")
    bob.expect_status("Waiting for a player", "___/___/___")
    bob.press("Take the seat")
    bob.take_seat()
    bob.expect_status("Ann is thinking", "___/___/___")


def test_an_invitation_works_once(users: Users) -> None:
    """Afterwards the link only lets people watch."""
    ann, bob, cid = (users.new_user(name) for name in ("Ann", "Bob", "Cid"))
    link = ann.create_link()
    cid.open(link)
    cid.press("Just watch")
    cid.expect_status("Waiting for a player", "___/___/___")
    bob.open(link)
    bob.take_seat()
    ann.play(5)
    cid.expect_status("Bob is thinking", "___/_X_/___")

    cid.page.reload()

    cid.expect_status("Bob is thinking", "___/_X_/___")
    cid.expect_text("Somebody has used this invitation, so you can only watch.")
    expect(cid.button("Take the seat")).to_have_count(0)
    expect(cid.button("Resign")).to_be_hidden()
    cid.force_click(1)
    bob.play(9)
    cid.expect_status("Ann is thinking", "___/_X_/__O")


def test_a_taken_seat_is_refused_with_a_sentence(users: Users) -> None:
    ann, bob, cid = (users.new_user(name) for name in ("Ann", "Bob", "Cid"))
    cid.allow_errors("404")
    link = ann.create_link()
    cid.hold_requests("**/events*", most=9)  # so that they receive nothing
    cid.open(link)
    expect(cid.button("Take the seat")).to_be_visible()
    bob.open(link)
    bob.take_seat()
    expect(bob.status).to_have_text("Ann is thinking")

    cid.press("Take the seat")

    cid.expect_text("Somebody has used this invitation, so you can only watch.")
    expect(cid.status).to_have_text("Ann is thinking")
    expect(cid.button("Take the seat")).to_have_count(0)


def test_a_spectator_sees_the_game_live(users: Users) -> None:
    ann, bob = users.two_players()
    cid = users.new_user("Cid")

    cid.open(f"/game/{ann.game}")

    for user in (ann, bob):
        user.expect_text("1 watching")
    expect(cid.page.get_by_test_id("watching")).to_be_empty()  # nobody else
    ann.play(5)
    cid.expect_status("Bob is thinking", "___/_X_/___")
    bob.play(1)
    cid.expect_status("Ann is thinking", "O__/_X_/___")
    cid.page.keyboard.press("9")
    cid.force_click(9)
    ann.play(3)
    cid.expect_status("Bob is thinking", "O_X/_X_/___")
    assert read_game(users.server, ann.game).moves == (4, 0, 2)


def test_a_seat_shows_whether_its_player_is_connected(users: Users) -> None:
    ann, bob = users.two_players()
    address = bob.page.url
    expect(ann.seat("O")).to_contain_text("connected")
    bob.page.goto("about:blank")
    expect(ann.seat("O")).to_contain_text("away")
    bob.page.goto(address)
    expect(ann.seat("O")).to_contain_text("connected")
    expect(ann.seat("X")).to_contain_text("you")


def test_a_game_goes_on_after_a_reload(users: Users) -> None:
    ann, bob = users.two_players_in_mid_game()

    ann.page.reload()
    bob.page.reload()

    ann.expect_status("Your move", "O__/_X_/___")
    bob.expect_status("Ann is thinking", "O__/_X_/___")
    ann.play(3)
    bob.expect_status("Your move", "O_X/_X_/___")
    bob.play(7)
    ann.expect_status("Your move", "O_X/_X_/O__")


def scan_code(user: User) -> list[str]:
    """Return the texts of the QR codes on the screen."""
    code = user.page.get_by_role("img", name="QR code of the link")
    picture = code.screenshot(type="png")
    height, width, pixels = user.page.evaluate(
        READ_PIXELS, f"data:image/png;base64,{b64encode(picture).decode()}"
    )
    grey = memoryview(pixels.encode("latin-1")).cast("B", (height, width))
    return [found.text for found in zxingcpp.read_barcodes(grey)]
