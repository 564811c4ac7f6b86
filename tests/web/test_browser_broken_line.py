"""What a page does when the server is away, when an answer is lost, and when a move is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

import web.browser
from web.browser import people_at, stands
from web.serving import Server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from web.browser import People

people = web.browser.people

AWAY = (
    "ERR_CONNECTION_REFUSED",
    "ERR_CONNECTION_RESET",
    "ERR_EMPTY_RESPONSE",
    "ERR_INCOMPLETE_CHUNKED_ENCODING",
)
"""What browsers say of a server that was killed."""


@pytest.fixture
def mortal(store: str) -> Iterator[Server]:
    """Start a server that a test may kill."""
    with Server(store) as server:
        yield server


@pytest.fixture
def guests(pytestconfig: pytest.Config, mortal: Server) -> Iterator[People]:
    """Let people come to it."""
    yield from people_at(pytestconfig, mortal, *AWAY)


def test_a_game_goes_on_when_the_server_was_killed(guests: People) -> None:
    """The pages say that they look for it, send a move made meanwhile, and go on by themselves."""
    ann, bob = guests.at_table()
    ann.plays(5)
    bob.plays(1)
    ann.sees("Your move", "O__/_X_/___")

    guests.server.kill()
    for person in (ann, bob):
        expect(person.status).to_have_text("Reconnecting…")
    ann.plays(3)
    expect(ann.cell(3)).to_have_accessible_name("Cell 3: X, on its way")
    ann.reads("Your move on 3 will be sent again.")
    ann.shoots("reconnecting")

    with restarted(guests.server) as server:
        ann.sees("Bob thinks", "O_X/_X_/___")
        bob.sees("Your move", "O_X/_X_/___")
        assert stands(server, ann.game).moves == (4, 0, 2)
        bob.plays(7)
        ann.plays(6)
        bob.sees("Your move", "O_X/_XX/O__")
        assert stands(server, ann.game).moves == (4, 0, 2, 6, 5)
        assert "Connected again." in " ".join(bob.heard)


def test_a_form_says_that_the_server_is_away(guests: People) -> None:
    """What was filled in stays there, and can be sent again."""
    ann = guests.come("Ann")
    ann.opens("/#same")
    ann.page.get_by_label("Who plays X").fill("Ann")

    guests.server.kill()
    ann.presses("Play")
    expect(ann.page.get_by_role("alert")).to_have_text("The server cannot be reached.")

    with restarted(guests.server):
        ann.presses("Play")
        ann.sees("Ann to move")


def test_a_move_whose_answer_was_lost_is_made_once(people: People) -> None:
    """The page cannot know whether the server heard it: it says it again, and one mark is placed."""
    ann, bob = people.at_table()
    ann.foresees("ERR_FAILED")
    ann.page.route("**/moves", lambda route: (route.fetch(), route.abort()), times=1)

    ann.plays(5)

    bob.sees("Your move", "___/_X_/___")
    ann.sees("Bob thinks", "___/_X_/___")
    ann.reads("Your move on 5 has arrived.")
    assert stands(people.server, ann.game).moves == (4,)


def test_a_seat_whose_answer_was_lost_is_given_all_the_same(people: People) -> None:
    """Whoever took the seat and did not hear of it has it, even when the page is loaded anew."""
    ann, bob = people.come("Ann"), people.come("Bob")
    bob.foresees("ERR_ABORTED .*/join")
    bob.opens(ann.makes_link())
    bob.page.get_by_label("Your name").fill("Bob")
    held = bob.holds("**/join")
    with bob.page.expect_request("**/join"):
        bob.presses("Take the seat")
    with people.server.client() as client:
        assert client.post(f"/games/{bob.game}/join", held[0].request.post_data_json).status == 200

    bob.page.reload()
    bob.sees("Take your seat")
    bob.presses("Take the seat")

    bob.sees("Ann thinks", "___/___/___")
    ann.plays(5)
    bob.plays(1)
    ann.sees("Your move", "O__/_X_/___")


def test_a_move_that_is_refused_is_taken_off_the_board(people: People) -> None:
    """It is seen at once as on its way; refused, it is gone, and a sentence says why."""
    ann, bob = people.at_table()
    ann.foresees("409")
    held = ann.holds("**/moves")
    ann.plays(3)
    expect(ann.cell(3)).to_have_accessible_name("Cell 3: X, on its way")
    tab = ann.context.new_page()
    tab.goto(ann.page.url)
    tab.get_by_role("gridcell", name="Cell 7").click()
    bob.sees("Your move", "___/___/X__")

    held[0].continue_()

    ann.reads("Your move on 3 was not taken.")
    ann.sees("Bob thinks", "___/___/X__")
    expect(ann.cell(3)).to_have_accessible_name("Cell 3: free")
    assert stands(people.server, ann.game).moves == (6,)


def test_a_question_outlives_an_answer_that_comes_late(people: People) -> None:
    """The answer to a move knows nothing of what the other player has asked since."""
    ann, bob = people.at_table()
    ann.plays(5)
    bob.plays(1)
    ann.sees("Your move", "O__/_X_/___")
    held = ann.holds("**/moves")
    ann.plays(3)
    answer = held[0].fetch()
    bob.sees("Your move", "O_X/_X_/___")
    bob.button("Take back").click()
    ann.reads("Bob asks to take back a move.")

    with ann.page.expect_response("**/moves") as heard:
        held[0].fulfill(response=answer)
    heard.value.finished()
    ann.page.evaluate(
        "() => new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen)))"
    )

    ann.button("Allow").click()
    bob.sees("Your move", "___/_X_/___")


def restarted(server: Server) -> Server:
    """Start a server in the place of one that was killed."""
    return Server(server.store, "--port", str(server.port))
