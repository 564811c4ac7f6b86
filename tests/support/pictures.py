"""`make pictures`: the page and the terminal, as the README shows them."""

from __future__ import annotations

import html
import re
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from support.live_board import LiveBoard
from support.web.serving import Server

DOCS = Path(__file__).parents[2] / "docs"

# The colours that the command uses, as a dark terminal shows them.
STYLES = {
    "1": "font-weight: bold",
    "2": "opacity: .5",
    "1;94": "color: #62b8f2; font-weight: bold",
    "1;33": "color: #f0a04b; font-weight: bold",
}
TERMINAL = (
    '<body style="margin: 0; background: #15181c; color: #eceae4">'
    '<pre style="margin: 0; padding: 16px; width: max-content; font: 15px/18px DejaVu Sans Mono">{}</pre>'
)


def page(browser: Browser) -> None:
    with Server("memory:") as server:
        tab = browser.new_page(viewport={"width": 1080, "height": 740}, reduced_motion="reduce")
        tab.goto(f"{server.url}/play/159342?first=X&level=medium")
        tab.locator("[data-cell='7']").hover()
        tab.screenshot(path=DOCS / "page.png")


def terminal(browser: Browser) -> None:
    with (
        tempfile.TemporaryDirectory() as home,
        LiveBoard(Path(home), "play", "--o", "bot:perfect", env={"FORCE_COLOR": "1"}) as live,
    ):
        live.see("Your move.")
        live.press("1")
        live.see("Unbeatable takes 5.", "Your move.")
        frame = live.session.output.decode().rpartition("\x1b[H")[2]
    tab = browser.new_page()
    tab.set_content(TERMINAL.format(coloured(frame)))
    tab.locator("pre").screenshot(path=DOCS / "terminal.png")


def coloured(frame: str) -> str:
    """Return what a command has drawn as HTML."""
    text = html.escape(re.sub(r"\x1b\[(?![0-9;]*m)[?0-9;]*[A-Za-z]|\r", "", frame))
    text = re.sub(r"\x1b\[0m", "</span>", text)
    return re.sub(r"\x1b\[([0-9;]+)m", lambda found: f'<span style="{STYLES[found[1]]}">', text)


if __name__ == "__main__":
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page(chromium)
        terminal(chromium)
        chromium.close()
