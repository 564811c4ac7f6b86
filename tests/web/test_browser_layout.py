"""The page on a phone, magnified, in the dark, with reduced motion; and its size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from support.figures import record_figure
from support.web.browser import User, Users, meet_by_link

PHONE = {"viewport": {"width": 320, "height": 640}, "has_touch": True, "is_mobile": True}
MAGNIFIED = {"viewport": {"width": 640, "height": 360}, "device_scale_factor": 2}
"""What is left of a window of 1280 by 720 when everything in it is twice as large."""

LARGE_TEXT = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
"""A phone, with text of twice the size."""

SIDEWAYS = {"viewport": {"width": 740, "height": 360}, "has_touch": True, "is_mobile": True}
"""A phone on its side."""

ENLARGE = "addEventListener('DOMContentLoaded', () => (document.documentElement.style.fontSize = '200%'))"

MIN_TARGET_PIXELS = 44
"""In pixels: what a finger hits."""

# How much wider the page is than the screen, what does not fit into its place, and what there is
# to hit, with its size.
MEASURE_LAYOUT = """() => ({
  beyond: document.scrollingElement.scrollWidth - screen.width,
  cut: [...document.querySelectorAll("h1, h2, p, strong, small, button, legend, td, th, .segments span")]
    .filter((element) => element.checkVisibility() && !element.matches(".unseen"))
    .filter((element) => getComputedStyle(element).display !== "inline")
    .filter((element) => element.scrollWidth > element.clientWidth + 1)
    .map((element) => element.textContent),
  targets: [...document.querySelectorAll("a[href], button, input, summary, textarea, select")]
    .filter((element) => element.checkVisibility({ visibilityProperty: true }))
    .map((element) => {
      const isTicked = element.matches("[type=checkbox]"); // by its label, too
      const { width, height } = (isTicked ? element.closest("label") : element).getBoundingClientRect();
      const name = element.ariaLabel ?? (element.textContent || element.value);
      return [`${element.localName} ${name}`, Math.round(Math.min(width, height) * 10) / 10];
    }),
})"""


@pytest.mark.parametrize(
    "device",
    [PHONE, SIDEWAYS, MAGNIFIED, LARGE_TEXT],
    ids=["phone", "sideways", "magnified", "large-text"],
)
def test_small_screens(users: Users, device: dict[str, Any], request: pytest.FixtureRequest) -> None:
    """No screen is too wide, nothing is cut off, and every target is large enough."""
    ann, bob = (users.new_user(name, **device) for name in ("Ann", "Somebody with a very long name 1"))
    if device is LARGE_TEXT:
        for user in (ann, bob):
            user.page.add_init_script(ENLARGE)
    shows = ScreenCheck(request.node.callspec.id)
    ann.open("/")
    ann.expect_status("Your move")
    shows(ann, "start")
    ann.button("Coach").click()
    expect(ann.cell(5)).to_contain_text("draw")
    shows(ann, "coach")
    ann.button("Coach").click()
    ann.open("/bots")
    expect(ann.button("Play Perfect")).to_be_visible()
    shows(ann, "computer")
    ann.open("/games")
    ann.expect_status("Your games")
    shows(ann, "games")
    meet_by_link(ann, bob, shows)
    ann.page.get_by_text("Events", exact=True).click()
    for user, number in zip((ann, bob) * 3, (1, 5, 2, 6), strict=False):
        tap(user, number)
    bob.button("Resign").click()
    shows(bob, "resigning")
    bob.button("No, play on").click()
    tap(ann, 3)
    ann.expect_status("You won", "XXX/_OO/___")
    shows(ann, "over")
    ann.button("Review").click()
    expect(ann.page.get_by_role("region", name="Review")).to_contain_text("wins")
    shows(ann, "review")
    bob.open("/play/15263")
    bob.expect_status("X won")
    shows(bob, "replay")
    bob.press("Settings")
    expect(bob.page.get_by_role("dialog")).to_be_visible()
    shows(bob, "settings")
    bob.open("/lobby")
    bob.expect_status("Lobby")
    shows(bob, "lobby")


@pytest.mark.parametrize(
    "size", [(1920, 1080), (1280, 720), (1366, 640), (768, 1024), (390, 844), (320, 568), (740, 360)]
)
def test_what_a_player_needs_is_seen_without_scrolling(users: Users, size: tuple[int, int]) -> None:
    """The state, the whole board, and what can be done; the board stays in its place."""
    width, height = size
    ann = users.new_user(viewport={"width": width, "height": height})
    ann.open("/play/1526?first=X&level=medium")
    places = []
    for status in ("Your move", "You won"):
        ann.expect_status(status)
        parts = [ann.status, ann.page.locator("noughts-board"), ann.page.locator(".actions")]
        boxes = [part.bounding_box() for part in parts]
        for box in boxes:
            assert box
            assert box["y"] >= 0
            assert box["y"] + box["height"] <= height
        places.append(boxes[1])
        if status == "Your move":
            ann.play(3)
            expect(ann.page.get_by_test_id("note")).not_to_be_empty()
    assert places[0] == places[1]


@pytest.mark.parametrize("size", [(320, 568), (390, 844), (740, 360), (1280, 720)])
def test_a_question_is_seen_without_scrolling(users: Users, size: tuple[int, int]) -> None:
    """With the board, which stays in its place."""
    width, height = size
    ann, _ = users.two_players()
    ann.page.set_viewport_size({"width": width, "height": height})
    ann.play(5)
    ann.expect_status("Bob is thinking")
    before = ann.page.locator("noughts-board").bounding_box()
    ann.press("Resign")
    for button in ("Yes, resign", "No, play on"):
        box = ann.button(button).bounding_box()
        assert box
        assert 0 <= box["y"] <= height - box["height"]
    assert ann.page.evaluate("scrollY") == 0
    assert ann.page.locator("noughts-board").bounding_box() == before
    ann.press("No, play on")
    ann.force_click(1)
    prompt = ann.page.get_by_test_id("prompt")
    expect(prompt).to_have_text("It is not your turn: Bob is to move.")
    expect(prompt).to_be_in_viewport(ratio=1)
    assert ann.page.locator("noughts-board").bounding_box() == before


@pytest.mark.parametrize("size", [(390, 844), (360, 740), (1280, 800)])
def test_the_board_is_seen_with_text_of_twice_the_size(users: Users, size: tuple[int, int]) -> None:
    width, height = size
    ann = users.new_user(viewport={"width": width, "height": height})
    ann.page.add_init_script(ENLARGE)
    ann.open("/")
    ann.expect_status("Your move")
    expect(ann.page.locator("noughts-board")).to_be_in_viewport(ratio=1)


def test_a_game_is_printed_as_its_board(users: Users) -> None:
    ann = users.new_user()
    ann.open("/play/1526?first=X&level=medium")
    ann.expect_status("Your move")
    ann.page.emulate_media(media="print", color_scheme="dark")
    assert brightness(background(ann)) == 255
    expect(ann.page.locator("noughts-board")).to_be_visible()
    expect(ann.status).to_be_visible()
    expect(ann.page.locator("button:visible, a:visible")).to_have_count(9)  # the cells
    ann.screenshot("print")


def test_light_and_dark(users: Users) -> None:
    """The choice in the settings is remembered."""
    ann = users.new_user(color_scheme="light")
    ann.open("/")
    light = background(ann)
    ann.page.emulate_media(color_scheme="dark")
    expect(ann.page.locator("html")).to_have_attribute("data-theme", "dark")
    dark = background(ann)
    assert brightness(dark) < 60
    assert brightness(light) > 200

    ann.press("Settings")
    ann.page.get_by_role("radio", name="Light").check()
    ann.press("Done")
    assert background(ann) == light
    ann.page.reload()
    ann.expect_status("Your move")
    assert background(ann) == light

    ann.page.emulate_media(color_scheme="light")
    expect(ann.page.locator("html")).to_have_attribute("data-theme", "light")
    ann.press("Settings")
    expect(ann.page.get_by_role("radio", name="Light")).to_be_checked()
    ann.page.get_by_role("radio", name="Dark").check()
    assert background(ann) == dark
    ann.page.get_by_role("radio", name="System").check()
    assert background(ann) == light


def test_reduced_motion(users: Users) -> None:
    for wanted, is_still in (("no-preference", False), ("reduce", True)):
        ann = users.new_user(reduced_motion=wanted)
        ann.start_game()
        for number in (1, 4, 2, 5, 3):
            ann.play(number)
        ann.expect_status("Ann won")

        strokes = ann.page.locator("main svg :is(path, circle)")
        animations = strokes.evaluate_all(
            "all => all.map((one) => getComputedStyle(one).animationName).filter((is) => is !== 'none')"
        )

        assert (not animations) == is_still
        assert (
            ann.page.evaluate(
                "[...document.querySelectorAll('*')].every((one) => getComputedStyle(one)"
                ".transitionDuration.split(', ').every((time) => time === '0s'))"
            )
            == is_still
        )


def test_marks_differ_in_more_than_their_colour(users: Users) -> None:
    ann = users.new_user(forced_colors="active")
    ann.start_game()
    ann.play(1)
    ann.play(2)
    ann.expect_status("Ann to move", "XO_/___/___")
    assert ann.cell(1).locator("path").count() == 2
    assert ann.cell(2).locator("circle").count() == 1
    ann.screenshot("forced-colours")


def test_the_start_page_is_small(users: Users, record_property: Callable[[str, object], None]) -> None:
    """70 kB and 8 requests at most."""
    ann = users.new_user()
    line = ann.context.new_cdp_session(ann.page)
    line.send("Network.enable")
    asked: list[str] = []
    sizes: list[int] = []
    line.on("Network.requestWillBeSent", lambda event_texts: asked.append(event_texts["request"]["url"]))
    line.on("Network.loadingFinished", lambda event_texts: sizes.append(event_texts["encodedDataLength"]))

    ann.page.goto("/", wait_until="networkidle")

    ann.expect_status("Your move")
    over_the_line = [url for url in asked if not url.startswith("data:")]
    record_figure(
        record_property,
        "the start page: {bytes} bytes in {requests} requests",
        bytes=sum(sizes),
        requests=len(over_the_line),
    )
    assert len(over_the_line) <= 8, over_the_line
    assert all(url.startswith(users.server.url) for url in over_the_line)
    assert 0 < sum(sizes) <= 70_000


class ScreenCheck:
    """Takes a screenshot of each screen, and checks that it fits the device."""

    def __init__(self, device: str) -> None:
        self._device = device

    def __call__(self, user: User, screen: str) -> None:
        user.screenshot(f"{self._device}-{screen}")
        found = user.page.evaluate(MEASURE_LAYOUT)
        assert found["beyond"] <= 0, f"{screen} is too wide"
        assert found["cut"] == [], screen
        assert found["targets"]
        assert [target for target in found["targets"] if target[1] < MIN_TARGET_PIXELS] == [], screen


def tap(user: User, number: int) -> None:
    if user.page.evaluate("navigator.maxTouchPoints > 0"):
        user.cell(number).tap()
    else:
        user.play(number)


def background(user: User) -> tuple[int, ...]:
    colour = user.page.evaluate("getComputedStyle(document.body).backgroundColor")
    return tuple(int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(","))


def brightness(colour: tuple[int, ...]) -> float:
    return sum(colour) / 3
