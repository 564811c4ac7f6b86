"""People with browsers: a real Chromium, in which each person has cookies and a memory of their own.

Whatever goes wrong in a browser that the test did not foresee fails the test: an error on the console,
one that nobody caught, a request that failed, a dialog, something that the page's own policy forbids.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from re import Pattern
from typing import Any, Literal

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Error,
    Locator,
    Page,
    Request,
    Route,
    expect,
    sync_playwright,
)

from noughts import Game, fold
from noughts.core.codec import decode
from support.web.serving import Server, new_key

SCREENSHOTS = Path(__file__).parents[3] / "build" / "screenshots"
DEADLINE = 30_000
"""In milliseconds: how long a browser may take, reached only by what hangs."""

NAMES = ("chromium", "chromium-browser", "google-chrome")
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
ARGUMENTS = (
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--renderer-process-limit=1",  # for each person: no spare ones that nobody needs
)

# All that the live region says is kept, in order, with the sentence on the screen: it says each thing
# for a moment only.
LISTENING = """
  globalThis.heard = [];
  globalThis.shown = [];
  new MutationObserver((changes) => {
    const live = document.querySelector("[aria-live]");
    const isSaid = changes.some(({ target }) => target === live || target.parentNode === live);
    if (!isSaid || !live?.textContent) return;
    heard.push(live.textContent);
    shown.push(document.querySelector("h1").textContent);
  }).observe(document, { subtree: true, childList: true });
"""

# How many rules hold, and what breaks the others.
LOOKING = """async (options) => {
  const { passes, violations } = await axe.run(options);
  const told = ({ id, nodes }) => nodes.map((node) => `${id}: ${node.html}: ${node.failureSummary}`);
  return [passes.length, violations.flatMap(told)];
}"""

_browser = pytest.StashKey["Browser"]()
_loop = pytest.StashKey[asyncio.AbstractEventLoop]()


class People:
    """Those who come to a server in the course of a test."""

    def __init__(self, browser: Browser, server: Server, foreseen: Iterable[str]) -> None:
        self._browser = browser
        self._foreseen = foreseen
        self._there: list[Person] = []
        self.server = server

    def come(self, name: str = "Ann", **options: Any) -> Person:
        """Have somebody come with a browser of their own."""
        person = Person(name, self._browser.new_context(**{"base_url": self.server.url, **options}))
        person.foresees(*self._foreseen)
        self._there.append(person)
        return person

    def at_table(self, x: str = "Ann", o: str = "Bob", **more: object) -> tuple[Person, Person]:
        """Have two people come who sit at a game already, X first."""
        ann, bob = self.come(x), self.come(o)
        seat = ann.creates("friend", **more)
        bob.joins(seat["id"], seat["invite"])
        for person in (ann, bob):
            person.opens(f"/game/{seat['id']}")
        for person in (ann, bob):
            expect(person.seat("X")).to_contain_text(x)
            expect(person.seat("O")).to_contain_text(o)
            expect(person.seat("X").or_(person.seat("O")).get_by_text("connected")).to_be_visible()
        return ann, bob

    def leave(self) -> list[str]:
        """Have all leave, and return what went wrong for any of them."""
        return [one for person in self._there for one in person.leaves()]


class Person:
    """Somebody with a browser."""

    def __init__(self, name: str, context: BrowserContext) -> None:
        self.name = name
        self.context = context
        self._foreseen: list[Pattern[str]] = []
        self._trouble: list[str] = []
        self._held: list[Route] = []
        context.set_default_timeout(DEADLINE)
        context.add_init_script(LISTENING)
        context.on("console", self._hear)
        context.on("weberror", lambda error: self._trouble.append(f"not caught: {error.error}"))
        context.on("requestfailed", self._miss)
        context.on("dialog", self._dismiss)
        self.page: Page = context.new_page()

    # What they do

    def opens(self, address: str) -> None:
        self.page.goto(address, wait_until="domcontentloaded")

    def makes_link(self) -> str:
        """Make a link for a friend, from the start on, and return it."""
        self.opens("/")
        self.presses("Play a friend")
        self.page.get_by_label("Your name").fill(self.name)
        self.presses("Make the link")
        expect(self.status).to_have_text("Waiting for your friend")
        link = self.page.get_by_label("Link for your friend").input_value()
        assert re.fullmatch(r"http://[\d.]+:\d+/game/[a-z2-7]{26}#[\w-]{22,}", link)
        return link

    def sits(self) -> None:
        self.page.get_by_label("Your name").fill(self.name)
        self.presses("Take the seat")
        expect(self.button("Take the seat")).to_have_count(0)

    def presses(self, *names: str) -> None:
        """Press buttons or follow links, each by its name."""
        for name in names:
            buttons = self.page.get_by_role("button", name=name)
            buttons.or_(self.page.get_by_role("link", name=name)).first.click()

    def plays(self, number: int) -> None:
        """Choose a cell, counted from 1 as people do, as soon as it can be played."""
        self.cell(number).click()

    def tries(self, number: int) -> None:
        self.cell(number).click(force=True)

    def creates(self, opponent: str, **more: object) -> Any:
        """Create a game without any page, and return the seat."""
        return self._asks("/games", {"opponent": opponent, "name": self.name, **more})

    def joins(self, game: str, invite: str | None) -> None:
        self._asks(f"/games/{game}/join", {"invite": invite, "name": self.name, "key": new_key()})

    def _asks(self, path: str, body: object) -> Any:
        answer = self.context.request.post(f"/api/v1{path}", data=body)
        assert answer.ok, answer.text()
        return answer.json()

    def holds(self, address: str, most: int = 1) -> list[Route]:
        """Keep the requests to an address, so many at most, until they are let go."""
        held: list[Route] = []

        def hold(route: Route) -> None:
            if len(held) == most:
                route.continue_()
                return
            held.append(route)
            self._held.append(route)

        self.page.route(address, hold)
        return held

    def waits(self, seconds: float) -> None:
        """Let the time on the page pass at once, its clock being installed, and stand still then."""
        now = self.page.evaluate("Date.now()")
        self.page.clock.pause_at(now / 1000 + seconds)
        self.page.clock.run_for(100)  # so that what has changed is shown

    def foresees(self, *patterns: str) -> None:
        """Know that something will go wrong, by what is told of it."""
        self._foreseen += map(re.compile, patterns)

    def shoots(self, name: str) -> None:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png", animations="disabled")

    def leaves(self) -> list[str]:
        """Close the browser, and return what went wrong in it."""
        for page in self.context.pages:
            page.evaluate("0")  # what the page has said until now has been heard, then
        trouble = list(self._trouble)  # what is cut off by closing is no trouble
        for route in self._held:
            with suppress(Error):  # it was let go before
                route.abort()
        self.context.close()
        return [
            f"{self.name}: {one}"
            for one in trouble
            if not any(foreseen.search(one) for foreseen in self._foreseen)
        ]

    # What they see

    @property
    def status(self) -> Locator:
        return self.page.get_by_role("heading", level=1)

    @property
    def game(self) -> str:
        return self.page.url.partition("/game/")[2].partition("#")[0]

    @property
    def heard(self) -> list[str]:
        """All that the live region has said on this page."""
        found: list[str] = self.page.evaluate("heard")
        return found

    @property
    def shown(self) -> list[str]:
        """The sentence on the screen whenever the live region said something."""
        found: list[str] = self.page.evaluate("shown")
        return found

    def cell(self, number: int) -> Locator:
        return self.page.locator(f'[data-cell="{number - 1}"]')

    def seat(self, mark: str) -> Locator:
        return self.page.get_by_test_id(f"seat-{mark}")

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def sees(self, status: str, board: str | None = None) -> None:
        """Wait for a sentence, and for a board such as X__/_O_/___."""
        expect(self.status).to_have_text(status)
        if board:
            expect(self.page.get_by_role("grid")).to_match_aria_snapshot(grid(board))

    def reads(self, text: str) -> None:
        """Wait until a text can be seen, as a whole or as a part."""
        expect(self.page.get_by_text(text).locator("visible=true").first).to_be_visible()

    def hears(self, words: str) -> None:
        """Wait until the live region says something that ends so."""
        expect(self.page.locator("[aria-live]")).to_have_text(re.compile(re.escape(words) + r"\s*$"))

    # What goes wrong

    def notices(self, pattern: str) -> None:
        for _ in range(1000):
            if any(re.search(pattern, one) for one in self._trouble):
                return
            self.page.evaluate("new Promise(requestAnimationFrame)")
        raise AssertionError(f"nothing like {pattern!r} has gone wrong: {self._trouble}")

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning", "assert"):
            self._trouble.append(f"{message.type}: {message.text} {message.location['url']}")

    def _dismiss(self, dialog: Dialog) -> None:
        self._trouble.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def _miss(self, request: Request) -> None:
        # A page that is left, or has found another line, hangs up the old one.
        is_hung_up = request.failure == "net::ERR_ABORTED" and "/events" in request.url
        if not is_hung_up:
            self._trouble.append(f"failed: {request.failure} {request.url}")


def chromium(config: pytest.Config) -> Browser:
    """Return the one browser of this process of tests, started when it is first asked for."""
    if _browser not in config.stash:
        playwright = sync_playwright().start()
        config.stash[_loop] = asyncio.get_running_loop()
        found = next(filter(None, map(shutil.which, NAMES)), None)
        root = ("--no-sandbox",) if os.geteuid() == 0 else ()
        browser = playwright.chromium.launch(executable_path=found, args=[*ARGUMENTS, *root])
        expect.set_options(timeout=DEADLINE)
        config.stash[_browser] = browser

        def close() -> None:
            _mark_running(config.stash[_loop])
            browser.close()
            playwright.stop()

        config.add_cleanup(close)
    _mark_running(config.stash[_loop])
    return config.stash[_browser]


def _mark_running(loop: asyncio.AbstractEventLoop | None) -> None:
    """Say which loop runs: Playwright's does between its tests, too, and others may want their own."""
    asyncio._set_running_loop(loop)  # noqa: SLF001 - Playwright marks it in this way itself


def people_at(config: pytest.Config, server: Server, *foreseen: str) -> Iterator[People]:
    """Let people come to a server; at the end all leave, and nothing may have gone wrong but this."""
    people = People(chromium(config), server, foreseen)
    yield people
    try:
        trouble = people.leave()
    finally:
        _mark_running(None)
    if trouble:
        pytest.fail("\n".join(trouble))


@pytest.fixture
def people(pytestconfig: pytest.Config, server: Server) -> Iterator[People]:
    """Let people come to the server that most tests share."""
    yield from people_at(pytestconfig, server)


def grid(board: str) -> str:
    """Return how a board such as X__/_O_/___ is told to who cannot see it."""
    lines = []
    for number, sign in enumerate(board.replace("/", ""), 1):
        if number % 3 == 1:
            lines.append("- row:")
        held = "free" if sign == "_" else sign
        lines.append(f"  - 'gridcell /^Cell {number}: {held}/'")
    return "\n".join(lines)


def told(server: Server, game: str) -> list[str]:
    """Return the events of a game as the documents tell them."""
    return [str(decode(event)) for event in _events(server, game)]


def stands(server: Server, game: str) -> Game:
    """Return what a game's events add up to, by the rules in Python."""
    found = fold(map(decode, _events(server, game)))
    assert found
    return found


def _events(server: Server, game: str) -> list[object]:
    with server.client() as client:
        found: list[object] = client.read(game)["events"]
        return found


def faults(page: Page) -> list[str]:
    """Return what axe finds wrong with a page as it stands, in the light and in the dark."""
    if not page.evaluate("'axe' in globalThis"):
        page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text())
    found: list[str] = []
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        # In the dark nothing is otherwise but the colours.
        rules = {"runOnly": ["color-contrast", "link-in-text-block"]} if scheme == "dark" else {}
        passed, failed = page.evaluate(LOOKING, {"resultTypes": ["violations"], **rules})
        assert passed, "axe has looked at nothing"
        found += (f"{scheme}: {one}" for one in failed)
    return found
