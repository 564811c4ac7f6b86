"""The page without a server: offline, updated, out of date, and where a browser does not keep it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import expect

import noughts
from support.web.browser import User, Users
from support.web.serving import Server

IS_KEPT = """async () => {
  const { active } = await navigator.serviceWorker.ready;
  if (active.state === "activated") return;
  await new Promise((done) => active.addEventListener("statechange", done));
}"""

WAITING = "navigator.serviceWorker.ready.then(({ waiting }) => waiting?.state)"


def test_the_page_opens_and_plays_when_the_server_is_gone(users_of_own_server: Users) -> None:
    """Every screen opens, a game goes on, ends and is kept; what needs the server says so."""
    ann = users_of_own_server.new_user(service_workers="allow")
    visit(ann)

    users_of_own_server.server.kill()
    ann.page.reload()
    ann.expect_status("Your move", "___/___/___")
    ann.open("/play/1526?first=X&level=medium")
    ann.play(3)
    ann.expect_status("You won", "XXX/_OO/___")
    expect(ann.page.get_by_test_id("note")).to_contain_text("The game turned on move 4")
    ann.page.reload()
    ann.expect_status("You won", "XXX/_OO/___")
    ann.button("Again").click()
    expect(ann.page.get_by_role("gridcell", name="free")).to_have_count(8)
    ann.open("/games")
    expect(ann.page.get_by_role("link", name="Replay")).to_have_count(1)
    ann.open("/")
    ann.button("Get a link").click()
    expect(ann.page.get_by_role("alert")).to_have_text("The server cannot be reached.")
    ann.open("/lobby")
    expect(ann.page.get_by_role("alert")).to_have_text("The server cannot be reached.")


def test_only_the_addresses_of_the_page_are_opened_without_the_network(users: Users) -> None:
    """Others may belong to another application on the same host."""
    ann = users.new_user(service_workers="allow")
    visit(ann)
    ann.allow_errors("404")
    for path, is_page in (
        *(("/", True), ("/play/5?first=X&level=hard", True), ("/games", True)),
        *(("/game/" + "a" * 26, True), ("/docs/", False), ("/gamesome", False), ("/docs/play", False)),
        *(("/api/v1/bots", False), ("/metrics", False), ("/robots.txt", False)),
    ):
        answer = ann.page.goto(path)
        assert answer
        assert answer.from_service_worker == is_page, path


def test_a_game_goes_on_although_the_page_was_not_kept(users_of_own_server: Users) -> None:
    """On plain http, other than at localhost, browsers have no service worker."""
    ann = users_of_own_server.new_distant_user()
    ann.open("/")
    ann.expect_status("Your move")
    assert not ann.page.evaluate("'serviceWorker' in navigator")
    users_of_own_server.server.kill()
    ann.play(5)
    expect(ann.page.get_by_role("gridcell", name="free")).to_have_count(7)


def test_the_page_can_be_installed(users_who_install: Users) -> None:
    ann = users_who_install.new_user(service_workers="allow")
    visit(ann)
    line = ann.context.new_cdp_session(ann.page)
    manifest = line.send("Page.getAppManifest")
    assert manifest["errors"] == []
    errors = [one["errorId"] for one in line.send("Page.getInstallabilityErrors")["installabilityErrors"]]
    assert errors == ["in-incognito"]  # which every test is


def test_an_update_waits_until_the_player_reloads(users_of_own_server: Users, tmp_path: Path) -> None:
    """Until then, the page gets the files of its own version, which the server does not have any more."""
    ann = users_of_own_server.new_user(service_workers="allow")
    visit(ann)
    line = ann.context.new_cdp_session(ann.page)
    line.send("Network.enable")
    line.send("Network.setCacheDisabled", {"cacheDisabled": True})  # only what the worker has kept
    old = version(ann)
    with updated(users_of_own_server.server, tmp_path):
        ann.page.evaluate("navigator.serviceWorker.ready.then((kept) => void kept.update())")
        ann.expect_text("A new version is ready.")
        ann.press("Settings")  # a module that was not loaded before
        expect(ann.page.get_by_role("dialog")).to_be_visible()
        ann.press("Done")
        ann.play(5)
        expect(ann.page.get_by_role("gridcell", name="free")).to_have_count(7)
        assert ann.page.evaluate(WAITING) == "installed"
        assert len(kept_versions(ann)) == 2
        with ann.page.expect_navigation():
            ann.press("Reload")

        expect(ann.page.get_by_role("gridcell", name="free")).to_have_count(7)
        assert version(ann) != old
        assert kept_versions(ann) == [version(ann)]


@pytest.mark.parametrize("part", ["static", "api"])
def test_a_page_that_the_server_no_longer_knows_asks_to_reload(users: Users, part: str) -> None:
    ann = users.new_distant_user()
    ann.allow_errors("404", "400", "ERR_ABORTED .*/lobby.js")
    ann.open("/")
    ann.expect_status("Your move")
    ann.page.route("**/worker.js", lambda route: route.fulfill(body="another version"))
    if part == "static":
        ann.page.route("**/lobby.js", lambda route: route.fulfill(status=404))
        ann.press("Lobby")
    else:
        problem = {"code": "badRequest", "detail": "The body is not valid."}
        ann.page.route("**/api/v1/games", lambda route: route.fulfill(status=400, json=problem))
        ann.press("Get a link")
    expect(ann.page.get_by_role("alert").last).to_have_text(
        "This page is out of date: the server has a newer version."
    )
    with ann.page.expect_navigation():
        ann.press("Reload")


def test_an_update_that_cannot_be_kept_is_loaded_all_the_same(
    users_of_own_server: Users, tmp_path: Path
) -> None:
    """A file that the new worker needs is missing: the page does without a worker."""
    ann = users_of_own_server.new_user(service_workers="allow")
    ann.allow_errors("404")
    visit(ann)
    old = version(ann)
    with updated(users_of_own_server.server, tmp_path, "FILES.push('nowhere.js');"):
        ann.page.evaluate("dispatchEvent(new Event('error'))")
        ann.expect_text("This page is out of date: the server has a newer version.")
        with ann.page.expect_navigation():
            ann.press("Reload")

        ann.expect_status("Your move")
        assert version(ann) != old


def visit(user: User) -> None:
    """Open the page, and wait until the browser has kept it."""
    user.open("/")
    user.expect_status("Your move")
    user.page.evaluate(IS_KEPT)


def version(user: User) -> str:
    """Return the version of the page in a browser."""
    (found,) = set(re.findall(r"/static/([0-9a-f]{16})/", user.page.content()))
    return str(found)


def kept_versions(user: User) -> list[str]:
    return [key.split()[-1] for key in user.page.evaluate("caches.keys()")]


def updated(server: Server, folder: Path, worker: str = "") -> Server:
    """Start a server with a newer page in place of another, with more in its worker."""
    package = Path(noughts.__file__).parent
    shutil.copytree(package, folder / "noughts", ignore=shutil.ignore_patterns("__pycache__"))
    for name, more in (("style.css", "/* new */"), ("worker.js", worker)):
        with (folder / "noughts" / "web" / "static" / name).open("a") as file:
            file.write(more)
    server.kill()
    return Server(server.store, "--port", str(server.port), PYTHONPATH=str(folder))
