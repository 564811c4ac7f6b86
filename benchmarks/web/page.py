"""What the page costs a browser: bytes, requests, and the time until one can play."""

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
MOST_BYTES, MOST_REQUESTS = 60_000, 8

# Looked for at each frame, for what is not drawn cannot be played on.
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
    """What came over the wire until the page was there, and when it was."""

    size: int
    requests: int
    milliseconds: float


def page(bench: Bench) -> None:
    """Report the first screen, and a game that is opened by its address; nothing is cached."""
    try:
        from playwright.sync_api import sync_playwright  # noqa: PLC0415 - there are machines without
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
    """Open a page as somebody who was never here, but has a seat if there is an opponent."""
    context = browser.new_context()
    address = site
    if opponent:
        made = context.request.post(f"{site}/api/v1/games", data={"opponent": opponent})
        address = f"{site}/game/{made.json()['id']}"
    tab = context.new_page()
    tab.add_init_script(_WATCH.replace("SELECTOR", repr(selector)))
    sizes: dict[str, int] = {}
    wire = context.new_cdp_session(tab)
    wire.on("Network.responseReceived", lambda told: _add(sizes, told, told["response"]))
    wire.on("Network.dataReceived", lambda told: _add(sizes, told, told))
    wire.on(
        "Network.loadingFinished",
        lambda told: sizes.update({told["requestId"]: told["encodedDataLength"]}),
    )
    wire.send("Network.enable")
    tab.goto(address)
    shown = tab.evaluate("() => window.shownAt")
    tab.wait_for_load_state("load")
    tab.wait_for_timeout(500)  # what is asked for later is counted too
    context.close()
    return Visit(sum(sizes.values()), len(sizes), shown)


def _add(sizes: dict[str, int], told: dict[str, str], part: dict[str, str]) -> None:
    """Count what has come so far: a stream never finishes."""
    request = told["requestId"]
    sizes[request] = sizes.get(request, 0) + int(part["encodedDataLength"])


def _report(what: str, visits: list[Visit]) -> None:
    size, requests = max(visit.size for visit in visits), max(visit.requests for visit in visits)
    shown = statistics.median(visit.milliseconds for visit in visits)
    report(
        f"page, {what}: bytes / requests / time until it can be used",
        f"{size / 1e3:.1f} kB / {requests} / {shown:.0f} ms",
        "≤ 60 kB / ≤ 8 / -",
        reached=size <= MOST_BYTES and requests <= MOST_REQUESTS,
    )
