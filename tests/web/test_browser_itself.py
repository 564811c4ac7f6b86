"""The tests of the page notice what goes wrong in a browser."""

from __future__ import annotations

from support.web.browser import People

HARM = (
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


def test_harm_is_noticed(people: People) -> None:
    """An error, a refusal, what the policy forbids and a dialog: each would fail a test by itself."""
    ann = people.come()
    ann.opens("/")
    ann.sees("Three in a row.")

    for harm, noticed in HARM:
        ann.page.evaluate(harm)
        ann.notices(noticed)

    assert len(ann.leaves()) >= len(HARM)
    ann.foresees("")
