"""The cost of the page in a browser: bytes, requests, and the time until it is usable."""

from __future__ import annotations

import shutil
import statistics
import tempfile
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.report import report
from benchmarks.web.servers import NO_LIMITS, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from benchmarks.web.rounds import Bench

VISITS = 5
MAX_BYTES, MAX_REQUESTS = 60_000, 8

# Checked at each frame: what is not drawn is not usable.
_WATCH = """
window.shownAt = new Promise((shown) => {
  const look = () => {
    if (document.querySelector(SELECTOR)) shown(performance.now());
    else requestAnimationFrame(look);
  };
  look();
});
"""


class Visit(NamedTuple):
    """The traffic until the page was loaded, and the time until it was usable."""

    size: int
    requests: int
    milliseconds: float


def page(bench: Bench) -> None:
    """Report the first screen, and a game opened by its URL; nothing is cached."""
    try:
        from playwright.sync_api import sync_playwright  # noqa: PLC0415 - may not be installed
    except ImportError:
        report(
            "page: bytes / requests / time to playable", "no browser", "≤ 60 kB / ≤ 8 / -", reached=None
        )
        return
    with (
        tempfile.TemporaryDirectory(dir=bench.folder) as folder,
        serving(bench.command(f"sqlite:{folder}/games"), bench.log, **NO_LIMITS) as server,
        sync_playwright() as driver,
    ):
        site = f"http://127.0.0.1:{server.port}"
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"))
        _report("the first screen", [_visit(browser, site, "", "a.choice") for _ in range(VISITS)])
        free = ".cell:not([aria-disabled])"
        _report("a game", [_visit(browser, site, "self", free) for _ in range(VISITS)])
        browser.close()


def _visit(browser: Browser, site: str, opponent: str, selector: str) -> Visit:
    """Open a page as a new visitor, who has a seat if there is an opponent."""
    context = browser.new_context()
    address = site
    if opponent:
        made = context.request.post(f"{site}/api/v1/games", data={"opponent": opponent})
        address = f"{site}/game/{made.json()['id']}"
    tab = context.new_page()
    tab.add_init_script(_WATCH.replace("SELECTOR", repr(selector)))
    sizes: dict[str, int] = {}
    wire = context.new_cdp_session(tab)
    wire.on("Network.responseReceived", lambda figures: _add(sizes, figures, figures["response"]))
    wire.on("Network.dataReceived", lambda figures: _add(sizes, figures, figures))
    wire.on(
        "Network.loadingFinished",
        lambda figures: sizes.update({figures["requestId"]: figures["encodedDataLength"]}),
    )
    wire.send("Network.enable")
    tab.goto(address)
    shown = tab.evaluate("() => window.shownAt")
    tab.wait_for_load_state("load")
    tab.wait_for_timeout(500)  # later requests count too
    context.close()
    return Visit(sum(sizes.values()), len(sizes), shown)


def _add(sizes: dict[str, int], figures: dict[str, str], part: dict[str, str]) -> None:
    """Count partial responses: a stream never finishes."""
    request = figures["requestId"]
    sizes[request] = sizes.get(request, 0) + int(part["encodedDataLength"])


def _report(what: str, visits: list[Visit]) -> None:
    size, requests = max(visit.size for visit in visits), max(visit.requests for visit in visits)
    shown = statistics.median(visit.milliseconds for visit in visits)
    report(
        f"page, {what}: bytes / requests / time until it can be used",
        f"{size / 1e3:.1f} kB / {requests} / {shown:.0f} ms",
        "≤ 60 kB / ≤ 8 / -",
        reached=size <= MAX_BYTES and requests <= MAX_REQUESTS,
    )
