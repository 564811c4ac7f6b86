"""What a page does when the server is away, when an answer is lost, and when a move is refused."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from support.proxy import Proxy
from support.web.browser import People, Person, people_at, stands
from support.web.serving import Server

AWAY = (
    "ERR_CONNECTION_REFUSED",
    "ERR_CONNECTION_RESET",
    "ERR_EMPTY_RESPONSE",
    "ERR_INCOMPLETE_CHUNKED_ENCODING",
)
"""What browsers say of a server that was killed."""

PING = b"16\r\nevent: ping\ndata: {}\n\n\r\n"
"""What docs/api.md says that a server sends every 15 s."""

KEEPING_STREAMS = """
  globalThis.streams = [];
  globalThis.EventSource = class extends EventSource {
    constructor(...given) {
      super(...given);
      streams.push(this);
    }
  };
"""
COUNTING_PINGS = """() => {
  globalThis.pings = 0;
  streams[0].addEventListener("ping", () => (pings += 1));
}"""


@pytest.fixture
def mortal(store: str) -> Iterator[Server]:
    with Server(store) as server:
        yield server


@pytest.fixture
def guests(pytestconfig: pytest.Config, mortal: Server) -> Iterator[People]:
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
        assert " ".join(bob.heard).count("Reconnecting…") == 1


@pytest.fixture
def proxy(server: Server) -> Iterator[Proxy]:
    """Start a proxy before the server that most tests share."""
    with Proxy((server.host, server.port)) as proxy:
        yield proxy


def test_a_stream_that_goes_mute_is_noticed(proxy: Proxy, people: People) -> None:
    """After 25 s of silence the page says that it reconnects, and then shows what it has missed."""
    ann, bob = at_proxy(proxy, people)
    proxy.mute()
    bob.plays(1)
    bob.sees("Ann thinks", "O__/_X_/___")

    ann.waits(27)
    ann.sees("Reconnecting…", "___/_X_/___")
    ann.shoots("silent")
    ann.page.clock.resume()

    ann.sees("Your move", "O__/_X_/___")
    ann.hears("Bob on 1. Your move")
    assert ann.heard == ["You on 5. Bob thinks", "Reconnecting…", "Bob on 1. Your move"]
    ann.plays(3)
    bob.sees("Your move", "O_X/_X_/___")


def test_a_game_that_is_gone_is_announced_once(people: People) -> None:
    """A page whose game the server does not know any more says so, to eyes and ears."""
    ann, _ = people.at_table()
    ann.foresees("404")
    ann.page.route("**/api/v1/games/*", lambda route: route.fulfill(status=404, json={}))

    ann.page.evaluate("dispatchEvent(new Event('online'))")

    ann.sees("This game is gone")
    ann.hears("This game is gone")
    assert ann.heard == ["This game is gone"]
    ann.page.reload()
    ann.sees("There is no such game.")
    ann.hears("There is no such game.")


def test_a_page_that_was_asleep_notices_a_dead_stream(proxy: Proxy, people: People) -> None:
    """Timers may have stood still meanwhile: the page looks at the clock when it is shown again."""
    ann, bob = at_proxy(proxy, people)
    proxy.mute()
    bob.plays(1)
    bob.sees("Ann thinks", "O__/_X_/___")

    ann.waits(1)
    ann.page.clock.set_system_time(ann.page.evaluate("Date.now()") / 1000 + 3600)
    ann.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    ann.page.clock.run_for(100)
    ann.sees("Reconnecting…", "___/_X_/___")
    ann.page.clock.resume()

    ann.sees("Your move", "O__/_X_/___")


def test_a_ping_is_a_sign_of_life(proxy: Proxy, people: People) -> None:
    """A game in which nobody moves for minutes is shown as it is, on the same stream."""
    ann, bob = at_proxy(proxy, people)
    ann.page.evaluate(COUNTING_PINGS)

    for count in range(1, 9):
        ann.waits(20)
        proxy.send(PING)
        ann.page.wait_for_function("count => pings >= count", arg=count)
    ann.page.clock.resume()

    bob.plays(1)
    ann.sees("Your move", "O__/_X_/___")
    assert "Reconnecting…" not in " ".join(ann.heard)
    assert ann.page.evaluate("streams.length") == 1


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
    with ann.page.expect_request("**/moves"):
        ann.plays(3)
    expect(ann.cell(3)).to_have_accessible_name("Cell 3: X, on its way")
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


def at_proxy(proxy: Proxy, people: People) -> tuple[Person, Person]:
    """Have two people come to a game, the first by the proxy and with a clock that a test can turn."""
    ann, bob = people.come("Ann", base_url=proxy.url), people.come("Bob")
    ann.page.clock.install()
    ann.page.add_init_script(KEEPING_STREAMS)
    seat = ann.creates("friend")
    bob.joins(seat["id"], seat["invite"])
    for person in (ann, bob):
        person.opens(f"/game/{seat['id']}")
    ann.plays(5)
    ann.sees("Bob thinks", "___/_X_/___")
    bob.sees("Your move", "___/_X_/___")
    return ann, bob


def restarted(server: Server) -> Server:
    """Start a server in the place of one that was killed."""
    return Server(server.store, "--port", str(server.port))
