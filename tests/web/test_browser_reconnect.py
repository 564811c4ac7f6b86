"""The page when the server is down, when an answer is lost, and when a move is refused."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from support.proxy import Proxy
from support.web.browser import User, Users, cell_name, open_game, read_game
from support.web.serving import Server

PING = b"16\r\nevent: ping\ndata: {}\n\n\r\n"
"""What docs/api.md says that a server sends every 15 s."""

RECORD_STREAMS = """
  globalThis.streams = [];
  globalThis.EventSource = class extends EventSource {
    constructor(...given) {
      super(...given);
      streams.push(this);
    }
  };
"""
COUNT_PINGS = """() => {
  globalThis.pings = 0;
  streams[0].addEventListener("ping", () => (pings += 1));
}"""


def test_a_game_goes_on_when_the_server_was_killed(users_of_own_server: Users) -> None:
    """A move that was made meanwhile is sent again."""
    ann, bob = users_of_own_server.two_players_in_mid_game()

    users_of_own_server.server.kill()
    for user in (ann, bob):
        expect(user.status).to_have_text("Reconnecting…")
    ann.play(3)
    expect(ann.cell(3)).to_have_accessible_name(cell_name(3, "X, sending"))
    ann.expect_text("Your move will be sent again.")
    ann.screenshot("reconnecting")

    with restart(users_of_own_server.server) as server:
        ann.expect_status("Bob is thinking", "O_X/_X_/___")
        bob.expect_status("Your move", "O_X/_X_/___")
        assert read_game(server, ann.game).moves == (4, 0, 2)
        bob.play(7)
        ann.play(6)
        bob.expect_status("Your move", "O_X/_XX/O__")
        assert read_game(server, ann.game).moves == (4, 0, 2, 6, 5)
        assert " ".join(bob.announcements).count("Reconnecting…") == 1


@pytest.fixture
def proxy(server: Server) -> Iterator[Proxy]:
    with Proxy((server.host, server.port)) as proxy:
        yield proxy


def test_a_silent_stream_is_noticed(proxy: Proxy, users: Users) -> None:
    """After 25 s."""
    ann, bob = two_players_with_a_silent_stream(proxy, users)

    ann.advance_clock(27)
    ann.expect_status("Reconnecting…", "___/_X_/___")
    ann.screenshot("silent")
    ann.page.clock.resume()

    ann.expect_status("Your move", "O__/_X_/___")
    ann.expect_announcement("Bob took the top left. Your move")
    assert ann.announcements == [
        "You took the middle. Bob is thinking",
        "Reconnecting…",
        "Bob took the top left. Your move",
    ]
    ann.play(3)
    bob.expect_status("Your move", "O_X/_X_/___")


def test_a_game_that_is_gone_is_announced_once(users: Users) -> None:
    ann, _ = users.two_players()
    ann.allow_errors("404")
    problem: dict[str, str] = {}
    ann.page.route("**/api/v1/games/*", lambda route: route.fulfill(status=404, json=problem))
    ann.page.evaluate("dispatchEvent(new Event('online'))")
    ann.expect_announcement("Reconnecting…")  # a proxy has said so, not the server
    problem["code"] = "notFound"
    ann.page.evaluate("dispatchEvent(new Event('online'))")

    ann.expect_status("This game no longer exists")
    ann.expect_announcement("This game no longer exists")
    assert ann.announcements == ["Reconnecting…", "This game no longer exists"]
    expect(ann.button("Back to the board")).to_be_visible()
    ann.page.reload()
    ann.expect_status("Game not found")
    ann.expect_announcement("Game not found")


def test_a_page_that_wakes_up_notices_a_dead_stream(proxy: Proxy, users: Users) -> None:
    """Its timers may have stopped: it compares times when it is shown again."""
    ann, _ = two_players_with_a_silent_stream(proxy, users)

    ann.advance_clock(1)
    ann.page.clock.set_system_time(ann.page.evaluate("Date.now()") / 1000 + 3600)
    ann.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    ann.page.clock.run_for(100)
    ann.expect_status("Reconnecting…", "___/_X_/___")
    ann.page.clock.resume()

    ann.expect_status("Your move", "O__/_X_/___")


def test_pings_keep_a_stream_alive(proxy: Proxy, users: Users) -> None:
    ann, bob = two_players_by_proxy(proxy, users)
    ann.page.evaluate(COUNT_PINGS)

    for count in range(1, 9):
        ann.advance_clock(20 if count > 1 else 1)  # paused from the first on: a busy machine has time
        proxy.send(PING)
        ann.page.wait_for_function("count => pings >= count", arg=count)
    ann.page.clock.resume()

    bob.play(1)
    ann.expect_status("Your move", "O__/_X_/___")
    assert "Reconnecting…" not in " ".join(ann.announcements)
    assert ann.page.evaluate("streams.length") == 1


def test_a_form_can_be_sent_again_after_a_restart(users_of_own_server: Users) -> None:
    ann = users_of_own_server.new_user("Ann")
    ann.open("/friend")
    ann.page.get_by_label("Your name").fill("Ann")
    users_of_own_server.server.kill()
    ann.press("Get a link")
    expect(ann.page.get_by_role("alert")).to_have_text("The server cannot be reached.")
    with restart(users_of_own_server.server):
        ann.press("Get a link")
        ann.expect_status("Waiting for your friend")


def test_a_move_whose_answer_was_lost_is_made_once(users: Users) -> None:
    ann, bob = users.two_players()
    ann.allow_errors("ERR_FAILED")
    ann.page.route("**/moves", lambda route: (route.fetch(), route.abort()), times=1)
    ann.play(5)
    bob.expect_status("Your move", "___/_X_/___")
    ann.expect_status("Bob is thinking", "___/_X_/___")
    ann.expect_text("Your move has arrived.")
    assert read_game(users.server, ann.game).moves == (4,)


def test_a_seat_whose_answer_was_lost_is_kept(users: Users) -> None:
    ann, bob = users.new_user("Ann"), users.new_user("Bob")
    bob.allow_errors("ERR_ABORTED .*/join")
    bob.open(ann.create_link())
    bob.page.get_by_label("Your name").fill("Bob")
    held = bob.hold_requests("**/join")
    bob.press("Take the seat")
    sent = bob.wait_for_held(held).request.post_data_json
    with users.server.client() as client:
        assert client.post(f"/games/{bob.game}/join", sent).status == 200

    bob.page.reload()
    bob.expect_status("Take your seat")
    bob.press("Take the seat")

    bob.expect_status("Ann is thinking", "___/___/___")
    ann.play(5)
    bob.play(1)
    ann.expect_status("Your move", "O__/_X_/___")


def test_a_move_that_is_refused_is_taken_off_the_board(users: Users) -> None:
    ann, bob = users.two_players()
    ann.allow_errors("409")
    held = ann.hold_requests("**/moves")
    ann.play(3)
    expect(ann.cell(3)).to_have_accessible_name(cell_name(3, "X, sending"))
    tab = ann.context.new_page()
    tab.goto(ann.page.url)
    tab.get_by_role("gridcell", name="The bottom left").click()
    bob.expect_status("Your move", "___/___/X__")

    ann.wait_for_held(held).continue_()

    ann.expect_text("This game has moved on in another window; here it is now.")
    ann.expect_status("Bob is thinking", "___/___/X__")
    expect(ann.cell(3)).to_have_accessible_name(cell_name(3, "free"))
    assert read_game(users.server, ann.game).moves == (6,)


def test_a_late_answer_does_not_hide_an_offer(users: Users) -> None:
    ann, bob = users.two_players_in_mid_game()
    held = ann.hold_requests("**/moves")
    ann.play(3)
    expect(ann.cell(3)).to_have_accessible_name(cell_name(3, "X, sending"))
    move = ann.wait_for_held(held)
    answer = move.fetch()
    bob.expect_status("Your move", "O_X/_X_/___")
    bob.button("Take back").click()
    ann.expect_text("Bob asks to take back a move.")

    with ann.page.expect_response("**/moves") as late:
        move.fulfill(response=answer)
    late.value.finished()
    ann.page.evaluate(
        "() => new Promise((seen) => requestAnimationFrame(() => requestAnimationFrame(seen)))"
    )

    ann.button("Allow").click()
    bob.expect_status("Your move", "___/_X_/___")


def two_players_by_proxy(proxy: Proxy, users: Users) -> tuple[User, User]:
    """Return two players, the first behind the proxy and with a fake clock."""
    ann, bob = users.new_user("Ann", base_url=proxy.url), users.new_user("Bob")
    ann.page.clock.install()
    ann.page.add_init_script(RECORD_STREAMS)
    open_game(ann, bob)
    ann.play(5)
    ann.expect_status("Bob is thinking", "___/_X_/___")
    bob.expect_status("Your move", "___/_X_/___")
    return ann, bob


def two_players_with_a_silent_stream(proxy: Proxy, users: Users) -> tuple[User, User]:
    """Return two players, the first of whom misses the other's move."""
    ann, bob = two_players_by_proxy(proxy, users)
    proxy.mute()
    bob.play(1)
    bob.expect_status("Ann is thinking", "O__/_X_/___")
    return ann, bob


def restart(server: Server) -> Server:
    """Start a server in place of one that was killed."""
    return Server(server.store, "--port", str(server.port))
