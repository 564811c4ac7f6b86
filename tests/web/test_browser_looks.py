"""How the page looks on a phone, when it is magnified, in the dark, at rest; and what it weighs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from support.figures import record_figure
from support.web.browser import People, Person

PHONE = {"viewport": {"width": 320, "height": 640}, "has_touch": True, "is_mobile": True}
MAGNIFIED = {"viewport": {"width": 640, "height": 360}, "device_scale_factor": 2}
"""What is left of a window of 1280 by 720 when everything in it is twice as large."""

TARGET = 44
"""In pixels: what a finger hits."""

# How much wider the page is than the screen, and what there is to hit, with its size.
MEASURE = """() => ({
  beyond: document.scrollingElement.scrollWidth - screen.width,
  targets: [...document.querySelectorAll("a[href], button, input, summary, textarea, select")]
    .filter((element) => element.checkVisibility({ visibilityProperty: true }))
    .map((element) => {
      const { width, height } = element.getBoundingClientRect();
      const name = element.ariaLabel ?? (element.textContent || element.value);
      return [`${element.localName} ${name}`, Math.round(Math.min(width, height) * 10) / 10];
    }),
})"""


@pytest.mark.parametrize("device", [PHONE, MAGNIFIED], ids=["phone", "magnified"])
def test_everything_can_be_reached_on_a_small_screen(
    people: People, device: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    """No screen is wider than the device, all there is to press can be hit, and a game can be played."""
    ann, bob = (people.come(name, **device) for name in ("Ann", "Somebody with a very long name 1"))
    shows = Showing(request.node.callspec.id)
    ann.opens("/")
    shows(ann, "start")
    ann.presses("Play the computer")
    expect(ann.page.get_by_role("button", name="Perfect").first).to_be_visible()
    shows(ann, "computer")
    link = ann.makes_link()
    expect(ann.page.get_by_role("img", name="QR code of the link")).to_be_visible()
    shows(ann, "waiting")
    bob.opens(link)
    expect(bob.button("Take the seat")).to_be_visible()
    shows(bob, "join")
    bob.sits()
    ann.button("Coach").click()
    expect(ann.cell(5)).to_contain_text("draw")
    shows(ann, "coach")
    ann.page.get_by_text("Events", exact=True).click()
    for person, number in zip((ann, bob) * 3, (1, 5, 2, 6), strict=False):
        touches(person, number)
    bob.button("Resign").click()
    shows(bob, "resigning")
    bob.button("No, play on").click()
    touches(ann, 3)
    ann.sees("You won", "XXX/_OO/___")
    shows(ann, "over")
    ann.button("Review").click()
    expect(ann.page.get_by_role("region", name="Review")).to_contain_text("wins")
    shows(ann, "review")
    bob.opens("/replay/15263")
    bob.sees("X won")
    shows(bob, "replay")
    bob.presses("Settings")
    expect(bob.page.get_by_role("dialog")).to_be_visible()
    shows(bob, "settings")
    bob.opens("/lobby")
    bob.sees("Open table")
    shows(bob, "lobby")


def test_the_system_decides_between_light_and_dark_unless_somebody_does(people: People) -> None:
    """What is chosen in the settings counts more than the system, and is remembered."""
    ann = people.come(color_scheme="light")
    ann.opens("/")
    light = paper(ann)
    ann.page.emulate_media(color_scheme="dark")
    dark = paper(ann)
    assert brightness(dark) < 60
    assert brightness(light) > 200

    ann.presses("Settings")
    ann.page.get_by_role("radio", name="Light").check()
    ann.presses("Done")
    assert paper(ann) == light
    ann.page.reload()
    ann.sees("Three in a row.")
    assert paper(ann) == light

    ann.page.emulate_media(color_scheme="light")
    ann.presses("Settings")
    expect(ann.page.get_by_role("radio", name="Light")).to_be_checked()
    ann.page.get_by_role("radio", name="Dark").check()
    assert paper(ann) == dark
    ann.page.get_by_role("radio", name="System").check()
    assert paper(ann) == light


def test_nothing_moves_for_those_who_want_it_so(people: People) -> None:
    """Marks and lines draw themselves, unless the system asks for rest."""
    for wanted, is_still in (("no-preference", False), ("reduce", True)):
        ann = people.come(reduced_motion=wanted)
        ann.opens(f"/game/{ann.creates('self', other='Bob')['id']}")
        for number in (1, 4, 2, 5, 3):
            ann.plays(number)
        ann.sees("Ann won")

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


def test_marks_differ_in_more_than_their_colour(people: People) -> None:
    """A cross is made of strokes and a nought is round: who sees no colours sees which is which."""
    ann = people.come(forced_colors="active")
    ann.opens(f"/game/{ann.creates('self', other='Bob')['id']}")
    ann.plays(1)
    ann.plays(2)
    ann.sees("Ann to move", "XO_/___/___")

    assert ann.cell(1).locator("path").count() == 2
    assert ann.cell(2).locator("circle").count() == 1
    ann.shoots("forced-colours")


def test_the_start_page_is_light(people: People, record_property: Callable[[str, object], None]) -> None:
    """All that comes over the line until one can choose how to play: 60 kB and 8 requests at most."""
    ann = people.come()
    line = ann.context.new_cdp_session(ann.page)
    line.send("Network.enable")
    asked: list[str] = []
    sizes: list[int] = []
    line.on("Network.requestWillBeSent", lambda told: asked.append(told["request"]["url"]))
    line.on("Network.loadingFinished", lambda told: sizes.append(told["encodedDataLength"]))

    ann.page.goto("/", wait_until="networkidle")

    ann.sees("Three in a row.")
    over_the_line = [url for url in asked if not url.startswith("data:")]
    record_figure(
        record_property,
        "the start page: {bytes} bytes in {requests} requests",
        bytes=sum(sizes),
        requests=len(over_the_line),
    )
    assert len(over_the_line) <= 8, over_the_line
    assert all(url.startswith(people.server.url) for url in over_the_line)
    assert 0 < sum(sizes) <= 60_000


class Showing:
    """Keeps a picture of each screen, and sees that it fits on the device."""

    def __init__(self, device: str) -> None:
        self._device = device

    def __call__(self, person: Person, screen: str) -> None:
        person.shoots(f"{self._device}-{screen}")
        found = person.page.evaluate(MEASURE)
        assert found["beyond"] <= 0, f"{screen} is too wide"
        assert found["targets"]
        assert [target for target in found["targets"] if target[1] < TARGET] == [], screen


def touches(person: Person, number: int) -> None:
    if person.page.evaluate("navigator.maxTouchPoints > 0"):
        person.cell(number).tap()
    else:
        person.plays(number)


def paper(person: Person) -> tuple[int, ...]:
    colour = person.page.evaluate("getComputedStyle(document.body).backgroundColor")
    return tuple(int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(","))


def brightness(colour: tuple[int, ...]) -> float:
    """Return how bright a colour is, from 0 to 255."""
    return sum(colour) / 3
