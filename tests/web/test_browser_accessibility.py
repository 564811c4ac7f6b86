"""Every screen checked by axe, in light and dark, with a screenshot of each."""

from __future__ import annotations

from importlib.resources import files

from playwright.sync_api import Page, expect

from support.web.browser import SCHEMES, User, Users, meet_by_link

# Returns the number of passed rules, and the violations.
RUN_AXE = """async (options) => {
  const { passes, violations } = await axe.run(options);
  const describe = ({ id, nodes }) => nodes.map((node) => `${id}: ${node.html}: ${node.failureSummary}`);
  return [passes.length, violations.flatMap(describe)];
}"""


def test_axe_finds_nothing_on_the_first_screen(users: Users) -> None:
    ann = users.new_user()
    ann.open("/")
    ann.expect_status("Your move")
    check_screen(ann, "start")
    ann.play(5)
    expect(ann.page.get_by_role("gridcell", name="free")).to_have_count(7)
    check_screen(ann, "playing")
    ann.open("/games")
    ann.expect_text("Continue")
    check_screen(ann, "games")
    ann.press("Delete…")
    check_screen(ann, "delete")


def test_axe_finds_nothing_outside_a_game(users: Users) -> None:
    ann = users.new_user()
    ann.allow_errors("404")

    for screen, path, status in (
        ("friend", "/friend", "Play a friend"),
        ("computer", "/bots", "Bots"),
        ("open", "/open", "Open a game"),
        ("replay", "/play/15263", "X won"),
        ("not-a-game", "/play/155", "That is not a game"),
        ("no-such-game", f"/game/{'a' * 26}", "Game not found"),
        ("lost", "/nowhere", "Page not found"),
    ):
        ann.open(path)
        ann.expect_status(status)
        if screen == "computer":
            expect(ann.button("Play Perfect")).to_be_visible()
        if screen == "replay":
            expect(ann.page.get_by_test_id("note")).to_contain_text("The game turned on")
        check_screen(ann, screen)


def test_axe_finds_nothing_in_the_lobby_and_in_the_settings(users: Users) -> None:
    bob = users.new_user("Bob")
    with users.server.client() as ann:
        ann.create("lobby", name="Ann")
        bob.join_game(ann.create("lobby", name="Ann")["id"], None)
    bob.open("/lobby")
    for title in ("Waiting for an opponent", "Being played"):
        expect(bob.page.get_by_role("region", name=title).get_by_role("link").first).to_be_visible()

    check_screen(bob, "lobby")
    bob.press("Settings")
    expect(bob.page.get_by_role("dialog")).to_be_visible()
    check_screen(bob, "settings")


def test_axe_finds_nothing_in_a_game_of_two(users: Users) -> None:
    ann, bob = users.new_user("Ann"), users.new_user("Bob")
    meet_by_link(ann, bob, check_screen)
    ann.play(5)
    bob.expect_status("Your move", "___/_X_/___")
    check_screen(bob, "game")
    ann.button("Take back").click()
    expect(bob.button("Allow")).to_be_visible()
    check_screen(bob, "game-asked")


def test_axe_finds_nothing_with_coach_and_events(users: Users) -> None:
    ann = users.new_user()
    ann.start_game()
    ann.play(1)
    ann.play(3)
    ann.button("Coach").click()
    expect(ann.cell(2)).to_contain_text("loses in")
    check_screen(ann, "game-coach")
    ann.page.get_by_text("Events", exact=True).click()
    check_screen(ann, "game-events")
    for number in (4, 7, 5, 9, 6):
        ann.play(number)
    ann.expect_status("Ann won")
    check_screen(ann, "over")
    ann.button("Review").click()
    expect(ann.page.get_by_test_id("note")).to_contain_text("The game turned on move 2")
    check_screen(ann, "review")


def check_screen(user: User, screen: str) -> None:
    """Check a screen with axe, and save two screenshots."""
    assert axe_violations(user.page) == []
    user.screenshot(f"{screen}-dark")
    user.page.emulate_media(color_scheme="light")
    user.screenshot(f"{screen}-light")


def axe_violations(page: Page) -> list[str]:
    """Return the violations that axe finds on a page, in light and dark."""
    if not page.evaluate("'axe' in globalThis"):
        page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text())
    found: list[str] = []
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        # Only colours differ in the dark.
        rules = {"runOnly": ["color-contrast", "link-in-text-block"]} if scheme == "dark" else {}
        passed, failed = page.evaluate(RUN_AXE, {"resultTypes": ["violations"], **rules})
        assert passed, "axe checked nothing"
        found += (f"{scheme}: {one}" for one in failed)
    return found
