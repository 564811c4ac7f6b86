"""Hostile names are shown as text, and do nothing else."""

from __future__ import annotations

from playwright.sync_api import expect

from support.web.browser import User, Users

IMAGE, SCRIPT = "<img src=x onerror=alert(1)>", '"><script>alert(2)</script>'


def test_markup_in_names_is_shown_as_text(users: Users) -> None:
    ann, bob, cid = users.new_user(IMAGE), users.new_user(SCRIPT), users.new_user("Cid")
    ann.open("/open")
    ann.page.get_by_label("Your name").fill(IMAGE)
    ann.press("Open a game")
    ann.expect_status("Waiting for an opponent")
    bob.open("/lobby")
    bob.page.get_by_role("region", name="Waiting for an opponent").get_by_role("link", name=IMAGE).click()
    bob.expect_status(f"{IMAGE} is waiting for an opponent")
    bob.take_seat()
    cid.open("/lobby")
    check_harmless(cid)
    cid.page.get_by_role("region", name="Being played").get_by_role("link", name=SCRIPT).click()
    for user in (ann, bob, cid):
        user.page.get_by_text("Events", exact=True).click()

    ann.play(5)
    ann.button("Take back").click()
    bob.expect_text(f"{IMAGE} asks to take back a move.")
    bob.button("Allow").click()
    ann.play(5)
    bob.resign()

    for user in (ann, bob, cid):
        winner, loser = "You" if user is ann else IMAGE, "You" if user is bob else SCRIPT
        user.expect_status(f"{winner} won", "___/_X_/___")
        user.expect_text(f"{loser} resigned.")
        user.expect_announcement(f"{loser} resigned. {winner} won")
        expect(user.page).to_have_title(f"{winner} won · noughts")
        expect(user.seat("X")).to_contain_text(IMAGE)
        expect(user.seat("O")).to_contain_text(SCRIPT)
        events = user.page.get_by_role("list", name="Events of the game")
        expect(events).to_contain_text(f"playerJoined(O,{SCRIPT})")
        user.button("Review").click()
        user.expect_text(f"Move 1 of 1: {IMAGE} took the middle")
        check_harmless(user)
    ann.screenshot("names")


def test_an_invalid_name_is_refused_with_a_sentence(users: Users) -> None:
    ann = users.new_user()
    ann.allow_errors("400")
    ann.open("/friend")
    field, refusal = ann.page.get_by_label("Your name"), ann.page.get_by_role("alert")

    for name in ("Bob\x1b[31m", "Bob\u202emoc.live", "Bob\u2066", "\u3164", "Bob\x07"):
        field.fill(name)
        with ann.page.expect_response("**/games") as answer:
            ann.press("Get a link")
        expect(refusal).to_have_text(answer.value.json()["detail"])
        assert "A name can" in refusal.inner_text()
        assert refusal.inner_text().isprintable()

    ann.open("/")  # where there is no field, and the refused name is not kept
    ann.press("Get a link")
    ann.expect_status("Waiting for your friend")


def test_a_right_to_left_name_does_not_reorder_the_status(users: Users) -> None:
    hebrew = "\u05d3\u05e0\u05d4 5 (X)"
    _, bob = users.two_players(hebrew, "Bob")

    bob.expect_status(f"{hebrew} is thinking")

    assert bob.status.locator("bdi").evaluate(
        """(name) => {
          const rest = document.createRange();
          rest.selectNodeContents(name.nextSibling);
          return name.getBoundingClientRect().right <= rest.getBoundingClientRect().left + 1;
        }"""
    )
    assert bob.status.locator("bdi").inner_text() == hebrew
    bob.screenshot("right-to-left")


def check_harmless(user: User) -> None:
    found = user.page.locator("img:not(.qr img), body script, [onerror], [onload], iframe")
    assert found.evaluate_all("all => all.map((one) => one.outerHTML)") == []
