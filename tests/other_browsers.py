"""`make browsers`: the main path in Firefox and in WebKit. The tests of every run use Chromium."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import pytest

from support.web.serving import Server
from support.web.webdriver import OtherBrowser, firefox, webkit

SCREENSHOTS = Path(__file__).parents[1] / "build" / "screenshots"
FREE = "document.querySelectorAll('.cell[aria-label$=free]').length"
IS_KEPT = "navigator.serviceWorker.controller?.state === 'activated'"

Start = Callable[[], OtherBrowser]


@pytest.fixture
def server() -> Iterator[Server]:
    with Server("memory:") as server:
        yield server


@pytest.fixture(params=[firefox, webkit], ids=["firefox", "webkit"])
def start(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Start]:
    """Return a function that starts a browser, each time for somebody else."""
    launch: Callable[[Path], AbstractContextManager[OtherBrowser]] = request.param
    with ExitStack() as browsers:
        count = iter(range(9))
        yield lambda: browsers.enter_context(launch(tmp_path / f"browser{next(count)}"))


def test_a_game_against_the_computer(
    server: Server, start: Start, request: pytest.FixtureRequest
) -> None:
    """The first click is a move; the game survives a reload and the end of the server."""
    ann = start()
    ann.open(server.url)
    ann.wait_for_status("Your move")
    play(ann, 5)
    ann.wait(f"{FREE} === 7")
    ann.open(ann.evaluate("location.href"))
    ann.wait(f"{FREE} === 7")
    ann.wait(IS_KEPT)
    server.kill()

    ann.open(f"{server.url}/play/1526?first=X&level=medium")
    ann.wait_for_status("Your move")
    play(ann, 3)

    ann.wait_for_status("You won")
    ann.wait("document.querySelector('.note').textContent.includes('The game turned on move 4')")
    ann.wait("document.querySelector('.strike path').getAnimations().length === 0")
    ann.screenshot(SCREENSHOTS / f"{request.node.callspec.id}-won.png")
    ann.click(".actions .main")
    ann.wait(f"{FREE} >= 8")
    ann.open(f"{server.url}/games")
    ann.wait("document.querySelector('.results td')?.textContent === '1'")


def test_a_game_with_a_friend(server: Server, start: Start) -> None:
    """By a link; moves arrive on their own, and after a reload; resigning ends the game for both."""
    ann, bob = start(), start()
    ann.open(server.url)
    ann.click(".card .main")
    ann.wait_for_status("Waiting for your friend")
    bob.open(ann.evaluate("document.querySelector('.link').value"))
    bob.click(".join .main")
    bob.wait_for_status("Player X is thinking")
    ann.wait_for_status("Your move")

    play(ann, 5)
    bob.wait_for_status("Your move")
    play(bob, 1)
    ann.wait_for_status("Your move")
    ann.open(ann.evaluate("location.href"))
    ann.wait_for_status("Your move")
    ann.wait(f"{FREE} === 7")
    ann.click(".actions .btn:last-child")
    ann.click(".prompt .btn")

    ann.wait_for_status("Player O won")
    bob.wait_for_status("You won")


def play(browser: OtherBrowser, number: int) -> None:
    browser.click(f".cell[data-cell='{number - 1}']:not([aria-disabled])")
