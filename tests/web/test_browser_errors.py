"""The tests of the page fail on errors in the browser."""

from __future__ import annotations

from support.web.browser import Users

ERRORS = (
    ("console.error('broken')", "error: broken"),
    ("setTimeout(() => nowhere.to.be.found)", "not caught: .*nowhere is not defined"),
    ("fetch('/nowhere').then(() => 0)", "error: .* 404"),
    ("fetch('http://127.0.0.1:9/').catch(() => 0)", "error: .*127.0.0.1:9.*Content Security Policy"),
    (
        "document.body.setAttribute('style', 'color: red')",
        "error: .*inline style.*Content Security Policy",
    ),
    ("setTimeout(() => alert('boo'))", "a dialog: boo"),
)


def test_errors_in_the_browser_are_reported(users: Users) -> None:
    ann = users.new_user()
    ann.open("/")
    ann.expect_status("Your move")
    for harm, noticed in ERRORS:
        ann.page.evaluate(harm)
        ann.wait_for_error(noticed)
    assert len(ann.close()) >= len(ERRORS)
    ann.allow_errors("")
