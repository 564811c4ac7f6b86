"""Users with a real Chromium, each with their own cookies and storage.

A test fails on any error in a browser that it did not allow: a message on the console, an uncaught error,
a failed request, a dialog, or something that the page's Content Security Policy forbids.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import cycle
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
    Playwright,
    Request,
    Route,
    expect,
    sync_playwright,
)

from noughts import Game, fold
from noughts.core.codec import decode
from noughts.text.speaker import Speaker, capitalised
from support.web.serving import Server, new_key

SCREENSHOTS = Path(__file__).parents[3] / "build" / "screenshots"
TIMEOUT_MS = 30_000

SERVER_DOWN_ERRORS = (
    *("ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE", "ERR_FAILED"),
    *("ERR_INCOMPLETE_CHUNKED_ENCODING", "ERR_INTERNET_DISCONNECTED"),
)
"""What browsers say of a server that was killed."""

OTHER_HOST = "noughts.test"
"""This machine by another name: a browser does not trust it without https."""

NAMES = ("chromium", "chromium-browser", "google-chrome")
SHELL = "chromium-headless-shell"
"""Draws the same pages without the windows around them, in two thirds of the time."""
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
ARGUMENTS = (
    *("--disable-gpu", "--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--no-first-run"),
    "--renderer-process-limit=1",  # no spare renderer processes
    f"--host-resolver-rules=MAP {OTHER_HOST} 127.0.0.1",
)

# Records each announcement of the live region, with the status on the screen at that time.
RECORD_ANNOUNCEMENTS = """
  globalThis.announcements = [];
  globalThis.statuses = [];
  new MutationObserver((changes) => {
    const live = document.querySelector("[aria-live]");
    const isSaid = changes.some(({ target }) => target === live || target.parentNode === live);
    if (!isSaid || !live?.textContent) return;
    announcements.push(live.textContent);
    statuses.push(document.querySelector("h1").textContent);
  }).observe(document, { subtree: true, childList: true });
"""

_playwright = pytest.StashKey[Playwright]()
_browser = pytest.StashKey["Browser"]()
_loop = pytest.StashKey[asyncio.AbstractEventLoop]()


class Users:
    """The users of a server in one test."""

    def __init__(self, browser: Browser, server: Server, allowed: Iterable[str]) -> None:
        self._browser = browser
        self._allowed = allowed
        self._users: list[User] = []
        self.server = server

    def new_user(self, name: str = "Ann", **options: Any) -> User:
        usual = {"base_url": self.server.url, "service_workers": "block"}
        user = User(name, self._browser.new_context(**{**usual, **options}))
        user.allow_errors("Service Worker registration blocked", *self._allowed)
        self._users.append(user)
        return user

    def new_distant_user(self, name: str = "Ann", **options: Any) -> User:
        """Return a user who knows the server by a name of its own, and without https."""
        user = self.new_user(name, base_url=f"http://{OTHER_HOST}:{self.server.port}", **options)
        user.allow_errors("Cross-Origin-Opener-Policy header has been ignored")
        return user

    def two_players(self, x: str = "Ann", o: str = "Bob", **more: object) -> tuple[User, User]:
        """Return two users who have joined a game, X first."""
        ann, bob = self.new_user(x), self.new_user(o)
        open_game(ann, bob, **more)
        for user in (ann, bob):
            expect(user.seat("X")).to_contain_text(x)
            expect(user.seat("O")).to_contain_text(o)
            expect(user.seat("X").or_(user.seat("O")).get_by_text("connected")).to_be_visible()
        return ann, bob

    def two_players_in_mid_game(self) -> tuple[User, User]:
        """Return two users who have played 5 and 1."""
        ann, bob = self.two_players()
        play_in_turn(ann, bob, 5, 1)
        ann.expect_status("Your move", "O__/_X_/___")
        return ann, bob

    def close(self) -> list[str]:
        return [one for user in self._users for one in user.close()]


def open_game(first: User, second: User, **more: object) -> None:
    """Let two users join a game, X first, and open it."""
    seat = first.create_game("friend", **more)
    second.join_game(seat["id"], seat["invite"])
    for user in (first, second):
        user.open(f"/game/{seat['id']}")


def meet_by_link(first: User, second: User, check: Callable[[User, str], None]) -> None:
    """Let two users meet by a link, and check the screens on the way."""
    link = first.create_link()
    expect(first.button("Copy link")).to_be_visible()
    check(first, "waiting")
    second.open(link)
    expect(second.button("Take the seat")).to_be_visible()
    check(second, "join")
    second.take_seat()


def play_in_turn(first: User, second: User, *numbers: int) -> None:
    for user, number in zip(cycle((first, second)), numbers, strict=False):
        user.play(number)


class User:
    """One user with a browser."""

    def __init__(self, name: str, context: BrowserContext) -> None:
        self.name = name
        self.context = context
        self._allowed: list[Pattern[str]] = []
        self._errors: list[str] = []
        self._held_routes: list[Route] = []
        context.set_default_timeout(TIMEOUT_MS)
        context.add_init_script(RECORD_ANNOUNCEMENTS)
        context.on("console", self._on_console)
        context.on("weberror", lambda error: self._errors.append(f"not caught: {error.error}"))
        context.on("requestfailed", self._on_failed_request)
        context.on("dialog", self._on_dialog)
        self.page: Page = context.new_page()

    def open(self, address: str) -> None:
        self.page.goto(address, wait_until="domcontentloaded")

    def create_link(self) -> str:
        """Create a link for a friend, with a name."""
        self.open("/friend")
        self.page.get_by_label("Your name").fill(self.name)
        self.press("Get a link")
        expect(self.status).to_have_text("Waiting for your friend")
        link = self.page.get_by_label("Link for your friend").input_value()
        assert re.fullmatch(r"http://[\w.]+:\d+/game/[a-z2-7]{26}#[\w-]{22,}", link)
        return link

    def take_seat(self) -> None:
        self.page.get_by_label("Your name").fill(self.name)
        self.press("Take the seat")
        expect(self.button("Take the seat")).to_have_count(0)

    def start_game(self, opponent: str = "self", **more: object) -> None:
        """Create a game, by default for two players at this screen, and open it."""
        more = {"other": "Bob", **more} if opponent == "self" else more
        self.open(f"/game/{self.create_game(opponent, **more)['id']}")

    def resign(self) -> None:
        self.button("Resign").click()
        self.button("Yes, resign").click()

    def press(self, *names: str) -> None:
        for name in names:
            buttons = self.page.get_by_role("button", name=name)
            buttons.or_(self.page.get_by_role("link", name=name)).first.click()

    def play(self, number: int) -> None:
        """Click a cell, counted from 1, once it is enabled."""
        self.cell(number).click()

    def force_click(self, number: int) -> None:
        self.cell(number).click(force=True)

    def create_game(self, opponent: str, **more: object) -> Any:
        """Create a game by the API, and return the seat."""
        return self._post("/games", {"opponent": opponent, "name": self.name, **more})

    def join_game(self, game: str, invite: str | None) -> None:
        self._post(f"/games/{game}/join", {"invite": invite, "name": self.name, "key": new_key()})

    def _post(self, path: str, body: object) -> Any:
        answer = self.context.request.post(f"/api/v1{path}", data=body)
        assert answer.ok, answer.text()
        return answer.json()

    def hold_requests(self, address: str, most: int = 1) -> list[Route]:
        """Hold the first `most` requests to a URL until the test continues them."""
        held: list[Route] = []

        def hold(route: Route) -> None:
            if len(held) == most:
                route.continue_()
                return
            held.append(route)
            self._held_routes.append(route)

        self.page.route(address, hold)
        return held

    def wait_for_held(self, held: list[Route]) -> Route:
        """Return the first request that is held, once there is one."""
        for _ in range(1000):
            if held:
                return held[0]
            self.page.evaluate("new Promise(requestAnimationFrame)")
        raise AssertionError("no request was held")

    def advance_clock(self, seconds: float) -> None:
        """Advance the page's fake clock, and pause it."""
        now = self.page.evaluate("Date.now()")
        self.page.clock.pause_at(now / 1000 + seconds)
        self.page.clock.run_for(100)  # so that the page renders

    def allow_errors(self, *patterns: str) -> None:
        """Don't fail on errors that match one of these patterns."""
        self._allowed += map(re.compile, patterns)

    def screenshot(self, name: str) -> None:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png", animations="disabled")

    def close(self) -> list[str]:
        """Close the browser, and return the errors that were not allowed."""
        for page in self.context.pages:
            page.evaluate("0")  # waits for pending console messages
        errors = list(self._errors)  # errors caused by closing do not count
        for route in self._held_routes:
            with suppress(Error):  # already continued
                route.abort()
        self.context.close()
        return [
            f"{self.name}: {one}"
            for one in errors
            if not any(allowed.search(one) for allowed in self._allowed)
        ]

    @property
    def status(self) -> Locator:
        return self.page.get_by_role("heading", level=1)

    @property
    def game(self) -> str:
        return self.page.url.partition("/game/")[2].partition("#")[0]

    @property
    def announcements(self) -> list[str]:
        """What the live region has announced on this page."""
        return list(self.page.evaluate("announcements"))

    @property
    def statuses(self) -> list[str]:
        """The status on the screen at each announcement."""
        return list(self.page.evaluate("statuses"))

    def cell(self, number: int) -> Locator:
        return self.page.locator(f'[data-cell="{number - 1}"]')

    def seat(self, mark: str) -> Locator:
        return self.page.get_by_test_id(f"seat-{mark}")

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def expect_status(self, status: str, board: str | None = None) -> None:
        """Wait for the status, and for a board such as X__/_O_/___."""
        expect(self.status).to_have_text(status)
        if board:
            expect(self.page.get_by_role("grid")).to_match_aria_snapshot(grid(board))

    def expect_text(self, text: str) -> None:
        expect(self.page.get_by_text(text).locator("visible=true").first).to_be_visible()

    def expect_announcement(self, words: str) -> None:
        """Wait for an announcement that ends with these words; what decided the game may follow."""
        self.page.wait_for_function(
            "words => announcements.slice(-2).some((said) => `${said.trim()}. `.includes(`${words}. `))",
            arg=words,
        )

    def wait_for_error(self, pattern: str) -> None:
        for _ in range(1000):
            if any(re.search(pattern, one) for one in self._errors):
                return
            self.page.evaluate("new Promise(requestAnimationFrame)")
        raise AssertionError(f"no error like {pattern!r}: {self._errors}")

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning", "assert"):
            self._errors.append(f"{message.type}: {message.text} {message.location['url']}")

    def _on_dialog(self, dialog: Dialog) -> None:
        self._errors.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def _on_failed_request(self, request: Request) -> None:
        # A page that is left drops what it reads, and one that reconnects closes its old stream.
        is_dropped = request.failure == "net::ERR_ABORTED" and request.method == "GET"
        if not is_dropped:
            self._errors.append(f"failed: {request.failure} {request.url}")


def chromium(config: pytest.Config) -> Browser:
    """Return the browser of this test process, started on first use."""
    if _browser not in config.stash:
        playwright = config.stash[_playwright] = sync_playwright().start()
        config.stash[_loop] = asyncio.get_running_loop()
        browser = launch(playwright, SHELL, *NAMES)
        expect.set_options(timeout=TIMEOUT_MS)
        config.stash[_browser] = browser

        def close() -> None:
            _mark_running(config.stash[_loop])
            browser.close()
            playwright.stop()

        config.add_cleanup(close)
    _mark_running(config.stash[_loop])
    return config.stash[_browser]


def launch(playwright: Playwright, *names: str) -> Browser:
    """Start the first of these browsers; without any, Playwright's own."""
    found = next(filter(None, map(shutil.which, names)), None)
    channel = None if found or SHELL in names else "chromium"  # which is not its shell
    root = ("--no-sandbox",) if os.geteuid() == 0 else ()
    return playwright.chromium.launch(executable_path=found, channel=channel, args=[*ARGUMENTS, *root])


def _mark_running(loop: asyncio.AbstractEventLoop | None) -> None:
    """Set the running loop: Playwright leaves its own set between tests, and other tests need theirs."""
    asyncio._set_running_loop(loop)  # noqa: SLF001 - Playwright marks it in this way itself


def users_of(browser: Browser, server: Server, *allowed: str) -> Iterator[Users]:
    """Yield users of a server; fail at the end on errors that were not allowed."""
    users = Users(browser, server, allowed)
    yield users
    try:
        errors = users.close()
    finally:
        _mark_running(None)
    if errors:
        pytest.fail("\n".join(errors))


@pytest.fixture
def users(pytestconfig: pytest.Config, server: Server) -> Iterator[Users]:
    yield from users_of(chromium(pytestconfig), server)


@pytest.fixture
def users_who_install(pytestconfig: pytest.Config, server: Server) -> Iterator[Users]:
    """Yield users with a whole browser: the shell cannot install pages."""
    chromium(pytestconfig)
    browser = launch(pytestconfig.stash[_playwright], *NAMES)
    try:
        yield from users_of(browser, server)
    finally:
        _mark_running(pytestconfig.stash[_loop])
        browser.close()
        _mark_running(None)


@pytest.fixture
def own_server(store: str) -> Iterator[Server]:
    """Start a server that a test may kill."""
    with Server(store) as server:
        yield server


@pytest.fixture
def users_of_own_server(pytestconfig: pytest.Config, own_server: Server) -> Iterator[Users]:
    yield from users_of(chromium(pytestconfig), own_server, *SERVER_DOWN_ERRORS)


def grid(board: str) -> str:
    """Return the accessibility snapshot of a board such as X__/_O_/___."""
    lines = []
    for number, sign in enumerate(board.replace("/", ""), 1):
        if number % 3 == 1:
            lines.append("- row:")
        lines.append(f"  - 'gridcell /^{cell_name(number, 'free' if sign == '_' else sign)}/'")
    return "\n".join(lines)


def place(number: int) -> str:
    """Return how a cell is called on the page."""
    return Speaker(cells="places").cell(number - 1)


def cell_name(number: int, held: str) -> str:
    return f"{capitalised(place(number))}: {held}"


def event_texts(server: Server, game: str) -> list[str]:
    return [str(decode(event)) for event in _events(server, game)]


def read_game(server: Server, game: str) -> Game:
    found = fold(map(decode, _events(server, game)))
    assert found
    return found


def _events(server: Server, game: str) -> list[object]:
    with server.client() as client:
        return list(client.read(game)["events"])
