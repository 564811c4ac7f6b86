"""Names that mean harm are names, and nothing else."""

from __future__ import annotations

from playwright.sync_api import expect

from support.web.browser import People, Person

IMAGE, SCRIPT = "<img src=x onerror=alert(1)>", '"><script>alert(2)</script>'


def test_markup_in_names_is_text_wherever_names_stand(people: People) -> None:
    """In lists, seats, sentences, events, titles and what is spoken, to both and to who watches."""
    ann, bob, cid = people.come(IMAGE), people.come(SCRIPT), people.come("Cid")
    ann.opens("/lobby#open")
    ann.page.get_by_label("Your name").fill(IMAGE)
    ann.presses("Open a table")
    ann.sees("Waiting for an opponent")
    bob.opens("/lobby")
    bob.page.get_by_role("region", name="Waiting for an opponent").get_by_role("link", name=IMAGE).click()
    bob.sees(f"{IMAGE} waits for an opponent")
    bob.sits()
    cid.opens("/lobby")
    is_harmless(cid)
    cid.page.get_by_role("region", name="Being played").get_by_role("link", name=SCRIPT).click()
    for person in (ann, bob, cid):
        person.page.get_by_text("Events", exact=True).click()

    ann.plays(5)
    ann.button("Take back").click()
    bob.reads(f"{IMAGE} asks to take back a move.")
    bob.button("Allow").click()
    ann.plays(5)
    bob.button("Resign").click()
    bob.button("Yes, resign").click()

    for person in (ann, bob, cid):
        winner, loser = "You" if person is ann else IMAGE, "You" if person is bob else SCRIPT
        person.sees(f"{winner} won", "___/_X_/___")
        person.reads(f"{loser} resigned.")
        person.hears(f"{loser} resigned. {winner} won")
        expect(person.page).to_have_title(f"{winner} won · noughts")
        expect(person.seat("X")).to_contain_text(IMAGE)
        expect(person.seat("O")).to_contain_text(SCRIPT)
        events = person.page.get_by_role("list", name="Events of the game")
        expect(events).to_contain_text(f"playerJoined(O,{SCRIPT})")
        person.button("Review").click()
        person.reads(f"Move 1 of 1: {IMAGE} on 5")
        is_harmless(person)
    ann.shoots("names")


def test_what_cannot_be_a_name_is_refused_in_words(people: People) -> None:
    """What moves a cursor, turns the direction of writing or cannot be seen is said to be no name."""
    ann = people.come()
    ann.foresees("400")
    ann.opens("/#friend")
    field, refusal = ann.page.get_by_label("Your name"), ann.page.get_by_role("alert")

    for name in ("Bob\x1b[31m", "Bob\u202emoc.live", "Bob\u2066", "\u3164", "Bob\x07"):
        field.fill(name)
        with ann.page.expect_response("**/games") as answer:
            ann.presses("Make the link")
        expect(refusal).to_have_text(answer.value.json()["detail"])
        assert "A name can" in refusal.inner_text()
        assert refusal.inner_text().isprintable()

    field.fill("Bob")
    ann.presses("Make the link")
    ann.sees("Waiting for your friend")


def test_a_name_from_right_to_left_leaves_the_sentence_alone(people: People) -> None:
    """The rest of the sentence stands where it would behind any name."""
    hebrew = "\u05d3\u05e0\u05d4 5 (X)"
    _, bob = people.at_table(hebrew, "Bob")

    bob.sees(f"{hebrew} thinks")

    assert bob.status.locator("bdi").evaluate(
        """(name) => {
          const rest = document.createRange();
          rest.selectNodeContents(name.nextSibling);
          return name.getBoundingClientRect().right <= rest.getBoundingClientRect().left + 1;
        }"""
    )
    assert bob.status.locator("bdi").inner_text() == hebrew
    bob.shoots("right-to-left")


def is_harmless(person: Person) -> None:
    found = person.page.locator("img, body script, [onerror], [onload], iframe")
    assert found.evaluate_all("all => all.map((one) => one.outerHTML)") == []
