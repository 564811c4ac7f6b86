"""The cost of the page in a browser: bytes, requests, the time until the first move, its shifts."""

from __future__ import annotations

import shutil
import statistics
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.report import report
from benchmarks.web.servers import NO_LIMITS, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, BrowserContext, Page

    from benchmarks.web.rounds import Bench

VISITS = 5
MAX_BYTES, MAX_REQUESTS = 70_000, 8
SLOW_LINE = {"offline": False, "latency": 400, "downloadThroughput": 50_000, "uploadThroughput": 50_000}
MAX_SLOW_SECONDS = {"cold": 3.0, "warm": 0.6, "offline": 0.5}
MAX_LAYOUT_SHIFT = 0.01
STATIC = Path(__file__).parents[2] / "src" / "noughts" / "web" / "static"

# Checked at each frame: what is not drawn is not usable.
_WATCH = """
window.playableAt = new Promise((shown) => {
  const look = () => {
    if (document.querySelector(".cell:not([aria-disabled])")) shown(performance.now());
    else requestAnimationFrame(look);
  };
  look();
});
window.shift = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) shift += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""

_IS_KEPT = """async () => {
  const { active } = await navigator.serviceWorker.ready;
  while (active.state !== "activated") await new Promise((wait) => setTimeout(wait, 10));
}"""

_KEPT = """async () => {
  const cache = await caches.open((await caches.keys())[0]);
  const files = await Promise.all((await cache.keys()).map((key) => cache.match(key)));
  return files.map(({ headers }) => Number(headers.get("content-length")));
}"""

_AXE = "async (options) => (await axe.run(options)).violations.map(({ id }) => id)"


class Visit(NamedTuple):
    """The traffic until the page was loaded, and the time until a move was possible."""

    size: int
    requests: int
    seconds: float


def page(bench: Bench) -> None:
    """Report the figures of the page; nothing is cached unless they say so."""
    try:
        from playwright.sync_api import sync_playwright  # noqa: PLC0415 - may not be installed
    except ImportError:
        report("the page", "no browser", "-", reached=None)
        return
    with (
        tempfile.TemporaryDirectory(dir=bench.folder) as folder,
        serving(bench.command(f"sqlite:{folder}/games"), bench.log, **NO_LIMITS) as server,
        sync_playwright() as driver,
    ):
        site = f"http://127.0.0.1:{server.port}"
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"))
        _report_first_load(browser, site)
        _report_slow_line(browser, site)
        _report_clicks(browser, site)
        _report_screens(browser, site)
        browser.close()
    lines = sum(
        len(one.read_text().splitlines())
        for one in STATIC.iterdir()
        if one.suffix in (".js", ".css", ".html")
    )
    report("page: lines of static/", f"{lines}", "-", reached=None)


def _report_first_load(browser: Browser, site: str) -> None:
    visits = [_visit(browser.new_context(), site) for _ in range(VISITS)]
    size, requests = max(visit.size for visit in visits), max(visit.requests for visit in visits)
    report(
        "page, first load, before the worker: bytes / requests",
        f"{size / 1e3:.1f} kB / {requests}",
        f"≤ {MAX_BYTES / 1e3:.0f} kB / ≤ {MAX_REQUESTS}",
        reached=size <= MAX_BYTES and requests <= MAX_REQUESTS,
    )


def _report_slow_line(browser: Browser, site: str) -> None:
    """Report when the first move is possible on a slow line: at first, again, and with no network."""
    kept: list[int] = []
    without_worker: list[float] = []
    found: dict[str, list[float]] = {kind: [] for kind in MAX_SLOW_SECONDS}
    for _ in range(VISITS):
        context = browser.new_context()
        found["cold"].append(_visit(context, site, is_slow=True, is_last=False).seconds)
        context.pages[0].evaluate(_IS_KEPT)
        kept = context.pages[0].evaluate(_KEPT)
        context.pages[0].close()
        found["warm"].append(_visit(context, site, is_slow=True, is_last=False).seconds)
        context.set_offline(True)
        found["offline"].append(_visit(context, site).seconds)
        context = browser.new_context(service_workers="block")  # as on plain http
        _visit(context, site, is_last=False)
        without_worker.append(_visit(context, site, is_slow=True).seconds)
    name = "page, all that is kept for visits without a network: bytes / files"
    report(name, f"{sum(kept) / 1e3:.1f} kB / {len(kept)}", "-", reached=None)
    for kind, seconds in found.items():
        most, median = MAX_SLOW_SECONDS[kind], statistics.median(seconds)
        name = f"page, slow line: first move possible, {kind}"
        report(name, f"{median:.2f} s", f"≤ {most} s", reached=median <= most)
    report(
        "page, slow line: warm, without the worker",
        f"{statistics.median(without_worker):.2f} s",
        "-",
        reached=None,
    )


def _report_clicks(browser: Browser, site: str) -> None:
    """Report how many clicks lead to a move against the computer, and to a copied invitation."""
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    tab = context.new_page()
    tab.goto(site)
    tab.locator(".cell").nth(4).click()  # the move itself
    tab.wait_for_url("**/play/5?*")
    tab.goto(site)
    clicks = 0
    for label in ("Get a link", "Copy link"):
        tab.get_by_role("button", name=label).click()
        clicks += 1
    tab.get_by_role("button", name="Copied").wait_for()
    has_link = "#" in tab.evaluate("navigator.clipboard.readText()")
    context.close()
    report(
        "page: clicks before the first move / to a copied invitation",
        f"0 / {clicks}",
        "0 / 2",
        reached=clicks <= 2 and has_link,
    )


def _report_screens(browser: Browser, site: str) -> None:
    """Report how much the screens shift, and what axe finds on them, in both themes."""
    shift, violations, count = 0.0, 0, 0
    for width, height in ((1280, 800), (390, 844)):
        for scheme in ("light", "dark"):
            context = browser.new_context(
                viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
            )
            tab = context.new_page()
            tab.add_init_script(_WATCH)
            for _ in _screens(tab, site):
                tab.wait_for_timeout(700)
                shift = max(shift, tab.evaluate("shift"))
                tab.evaluate((files("axe_playwright_python") / "axe.min.js").read_text())
                violations += len(tab.evaluate(_AXE, {"resultTypes": ["violations"]}))
                count += 1
            context.close()
    report(
        f"page: layout shift / violations that axe finds on {count} screens",
        f"{shift:.3f} / {violations}",
        f"≤ {MAX_LAYOUT_SHIFT} / 0",
        reached=shift <= MAX_LAYOUT_SHIFT and not violations,
    )


def _screens(tab: Page, site: str) -> Iterator[None]:
    """Go from screen to screen."""
    tab.goto(site)
    yield
    tab.locator(".cell").nth(4).click()
    yield
    tab.goto(f"{site}/play/1526?first=X&level=medium")
    tab.locator(".cell").nth(2).click()
    yield
    for path in ("/games", "/friend", "/lobby", "/bots", "/play/15263", "/play/11"):
        tab.goto(site + path)
        yield
    tab.goto(site)
    tab.get_by_role("button", name="Settings").click()
    yield
    tab.goto(f"{site}/games")
    tab.get_by_role("button", name="Delete…").click()
    yield
    tab.goto(site)
    tab.get_by_role("button", name="Get a link").click()
    link = tab.get_by_label("Link for your friend").input_value()
    yield
    tab.context.clear_cookies()  # the friend
    tab.goto(link)
    seat = tab.get_by_role("button", name="Take the seat")
    seat.wait_for()
    yield
    seat.click()
    seat.wait_for(state="detached")
    yield
    tab.get_by_text("Events", exact=True).click()
    yield


def _visit(context: BrowserContext, site: str, *, is_slow: bool = False, is_last: bool = True) -> Visit:
    """Open the page in a new tab."""
    tab = context.new_page()
    tab.add_init_script(_WATCH)
    sizes: dict[str, int] = {}
    wire = context.new_cdp_session(tab)
    wire.on("Network.responseReceived", lambda figures: _add(sizes, figures, figures["response"]))
    wire.on("Network.dataReceived", lambda figures: _add(sizes, figures, figures))
    wire.on(
        "Network.loadingFinished",
        lambda figures: sizes.update({figures["requestId"]: figures["encodedDataLength"]}),
    )
    wire.send("Network.enable")
    if is_slow:
        wire.send("Network.emulateNetworkConditions", SLOW_LINE)
    tab.goto(site)
    shown = tab.evaluate("() => window.playableAt")
    tab.wait_for_load_state("load")
    tab.wait_for_timeout(500)  # later requests count too
    if is_last:
        context.close()
    return Visit(sum(sizes.values()), len(sizes), shown / 1000)


def _add(sizes: dict[str, int], figures: dict[str, str], part: dict[str, str]) -> None:
    """Count partial responses: a stream never finishes."""
    request = figures["requestId"]
    sizes[request] = sizes.get(request, 0) + int(part["encodedDataLength"])
