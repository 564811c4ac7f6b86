"""The terminal at a real server: against another terminal, a browser and a bot, over lines that break."""

from __future__ import annotations

import os
import re
from random import Random
from typing import TYPE_CHECKING

import pytest

from support.far_server import home
from support.forked import noughts
from support.proxy import CuttingProxy
from support.pseudo_terminal import CTRL_D, Session, in_terminal
from support.web.serving import Server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.web.serving import Client

BOB, FRANK = "bob, enter a position from 1 to 9: ", "frank, enter a position from 1 to 9: "
AGAIN = "Play again? (y/n) "
MAX_CUTS = 1_000
RUNS = 200 if os.environ.get("NOUGHTS_TORTURE") else 5


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """Start a server that keeps nothing."""
    with Server("memory:") as running:
        yield running


def terminal(folder: Path, *arguments: str) -> Session:
    """Join from a terminal that keeps its seats in a folder of its own."""
    return in_terminal("join", *arguments, "--color", "never", env=home(folder))


def invited(session: Session) -> str:
    """Return the invitation that a terminal tells."""
    found = re.search(r"a friend opens (\S+)\r\n", session.hear(r"a friend opens .*\r\n"))
    assert found
    return found[1]


def test_two_terminals_play_and_a_third_watches(server: Server, tmp_path: Path) -> None:
    """Taking back, another game, and all that leads there."""
    x, o, w = tmp_path / "x", tmp_path / "o", tmp_path / "w"
    with terminal(x, server.url, "--friend", "--name", "bob") as bob:
        link = invited(bob)
        with (
            terminal(o, link, "--name", "frank") as frank,
            terminal(w, link.partition("#")[0]) as watcher,
        ):
            watcher.expect("You watch bob against ")
            frank.expect("You play O against bob.")
            bob.expect("frank plays O.")
            for who, words in zip([bob, frank] * 3, ["1", "4", "2", "5", "undo"], strict=False):
                who.expect(BOB if who is bob else FRANK)
                who.type(f"{words}\n")
            frank.expect("bob wants to take back. Agree? (y/n) ")
            frank.type("y\n")
            bob.expect("bob took back.\r\nX|2|3\r\n-+-+-\r\nO|5|6\r\n")
            for who, words in ((bob, "2"), (frank, "9"), (bob, "3")):
                who.expect(BOB if who is bob else FRANK)
                who.type(f"{words}\n")
            for one in (bob, frank):
                one.expect("bob Won!\r\nScore: bob 1, frank 0, draws 0\r\n")
                one.expect(AGAIN)
                one.type("y\n")
            bob.expect("frank starts.")
            frank.expect("frank starts.")
            frank.expect(FRANK)
            frank.type("5\n")
            bob.expect("frank takes 5.")
            watcher.expect("bob Won!")
            watcher.expect("frank starts.")
            watcher.expect("frank:\r\n1|2|3\r\n-+-+-\r\n4|O|6")
            for one in (bob, frank, watcher):
                one.type("quit\n")
                assert one.end() == 0


def test_a_terminal_and_a_browser_play_each_other(server: Server, tmp_path: Path) -> None:
    """The browser has cookies, the terminal its seat; each sees the other's moves."""
    with server.client() as browser:
        made = browser.post("/games", {"opponent": "friend", "name": "bob"}).json
        game = made["id"]
        link = f"{server.url}/game/{game}#{made['invite']}"
        with terminal(tmp_path, link, "--name", "frank") as frank, browser.follow(game) as stream:
            frank.expect("Waiting for bob.")
            for theirs, mine in ((0, 4), (1, 5), (2, None)):
                version = browser.read(game)["version"]
                assert browser.move(game, theirs, version).status == 200
                frank.expect(f"bob takes {theirs + 1}.")
                if mine is not None:
                    frank.expect(FRANK)
                    frank.type(f"{mine}\n")
                    stream.wait_version(version + 6)
            frank.expect("bob Won!")
            frank.expect(AGAIN)

        assert browser.read(game)["moves"] == [0, 3, 1, 4, 2]


def test_who_comes_and_goes_is_told(server: Server, tmp_path: Path) -> None:
    """A page that is closed, and opened again."""
    with server.client() as browser:
        made = browser.post("/games", {"opponent": "friend", "name": "bob"}).json
        link = f"{server.url}/game/{made['id']}#{made['invite']}"
        with browser.follow(made["id"]), terminal(tmp_path, link) as session:
            session.expect("Waiting for bob.")
        with terminal(tmp_path, link.partition("#")[0]) as session:
            session.expect("bob is not here now.")
            with browser.follow(made["id"]):
                session.expect("bob is back.")


@pytest.mark.parametrize("bot", ["perfect", "random", "club"])
def test_a_bot_of_the_server_is_played_to_the_end(server: Server, tmp_path: Path, bot: str) -> None:
    """With the coach's help nobody loses; and there is another game, with the other starting."""
    with terminal(tmp_path, server.url, "--bot", bot, "--name", "bob") as session:
        session.expect("You play X against ")
        _play_by_hints(session)
        session.type("y\n")
        session.expect(" starts.")
        session.expect(BOB)
        session.type("undo\n")
        session.expect("There is no token of X's to take back.")
        session.expect(BOB)
        _play_by_hints(session, asked=True)
        session.type("n\n")
        assert session.end() == 0

    scores = re.findall(r"Score: bob (\d+), .* (\d+), draws (\d+)\r\n", session.output.decode())
    assert [sum(map(int, score)) for score in scores] == [1, 2]
    assert scores[-1][1] == "0"


def _play_by_hints(session: Session, *, asked: bool = False) -> None:
    """Play what the coach says is best, until the game is over."""
    while asked or session.hear(rf"{BOB}|{re.escape(AGAIN)}").endswith(BOB):
        asked = False
        session.type("hint\n")
        found = re.search(r"(\d): (win|draw|loss)", session.expect(BOB))
        assert found
        session.type(f"{found[1]}\n")


def test_strangers_meet_in_the_lobby(server: Server, tmp_path: Path) -> None:
    """The first waits, is listed, and the second plays with the first."""
    with terminal(tmp_path / "1", server.url, "--play", "--name", "bob") as bob:
        bob.expect("Waiting for somebody to take the other seat.")
        listed = noughts("join", server.url, env=home(tmp_path))
        with terminal(tmp_path / "2", f"{server.url}/lobby", "--play", "--name", "frank") as frank:
            frank.expect("You play O against bob.")
            bob.expect(BOB)

    assert re.search(rf"  {server.url}/game/[a-z2-7]{{26}}  bob \(X\)\n", listed.stdout)


def test_what_the_server_refuses_is_told(server: Server, tmp_path: Path) -> None:
    """An invitation that is used, a game that is not there, a name that is taken, a bot that is none."""
    with server.client() as client:
        made = client.create("friend", name="bob")
    link = f"{server.url}/game/{made['id']}#{made['invite']}"
    same = noughts("join", link, "--name", "bob", env=home(tmp_path))
    first = noughts("join", link, "--name", "frank", env=home(tmp_path / "first"))
    second = noughts("join", link, "--name", "eve", env=home(tmp_path))
    absent = noughts("join", f"{server.url}/game/{'a' * 26}", env=home(tmp_path))
    bot = noughts("join", server.url, "--bot", "nonesuch", env=home(tmp_path))

    assert first.returncode == 0
    assert [ran.returncode for ran in (same, second, absent, bot)] == [2, 2, 2, 2]
    assert "different names" in same.stderr
    assert second.stderr == "noughts: that invitation is invalid or has been used\n"
    assert absent.stderr == f"noughts: no such game at {server.url}\n"
    assert "nonesuch" in bot.stderr


def test_a_limit_is_told_with_how_long_it_lasts(tmp_path: Path) -> None:
    """With 1: it passes."""
    with Server("memory:", NOUGHTS_CREATES_PER_MINUTE="1") as server:
        good, bad = (noughts("join", server.url, "--bot", "club", env=home(tmp_path)) for _ in range(2))

    assert (good.returncode, bad.returncode) == (0, 1)
    assert re.search(r"noughts: too many .*: wait \d+ s\n", bad.stderr)


def test_a_server_that_dies_and_comes_back_is_played_on(tmp_path: Path) -> None:
    """Whatever was told to have happened has happened, and the game goes on by itself."""
    store = f"sqlite:{tmp_path / 'games.db'}"
    with Server(store) as server, server.client() as bob:
        port = str(server.port)
        made = bob.create("friend", name="bob")
        secret, game = made["secrets"]["X"], made["id"]
        session = terminal(tmp_path, f"{server.url}/game/{game}#{made['invite']}", "--name", "frank")
        session.expect("Waiting for bob.")
        bob.secret = secret
        _move(bob, game, 4)
        session.expect(FRANK)
        session.type("1\n")
        session.expect("Waiting for bob.\r\n")
        server.kill()
    with session:
        session.expect("Connection lost; reconnecting.\r\n")
        with Server(store, "--port", port) as server, server.client(secret) as bob:
            session.expect("Reconnected.\r\n")
            _move(bob, game, 8)
            session.expect("bob takes 9.\r\nO|2|3\r\n-+-+-\r\n4|X|6\r\n-+-+-\r\n7|8|X\r\n")
            session.expect(FRANK)
            session.type(CTRL_D)
            assert session.end() == 0


def _move(client: Client, game: str, cell: int) -> None:
    answer = client.move(game, cell, client.read(game)["version"])
    assert answer.status == 200, answer.body


@pytest.mark.torture
@pytest.mark.parametrize("seed", range(RUNS))
def test_a_game_over_a_line_that_breaks_everywhere_is_the_game_that_was_typed(
    server: Server, tmp_path: Path, seed: int
) -> None:
    """Each move counts once, whatever the line broke in: the request, the answer or the stream."""
    cells = [0, 1, 2, 4, 3, 5, 7, 6, 8]  # drawn, so that nine tokens lie in the end
    place = server.host, server.port
    with CuttingProxy(place, 0, Random(seed)) as proxy, server.client() as bob:
        made = bob.create("friend", name="bob")
        bob.secret, game = made["secrets"]["X"], made["id"]
        with terminal(tmp_path, f"{proxy.url}/game/{game}#{made['invite']}", "--name", "frank") as frank:
            frank.expect("Waiting for bob.\r\n")
            proxy.cuts_left = MAX_CUTS
            for connection in proxy.connections:
                connection.cut()
            for number, cell in enumerate(cells):
                if number % 2 == 0:
                    _move(bob, game, cell)
                    frank.expect(f"bob takes {cell + 1}.")
                else:
                    _type_until_it_counts(frank, cell)
            frank.expect("Game is Draw!")

        assert bob.read(game)["moves"] == cells
    assert proxy.cuts


def _type_until_it_counts(session: Session, cell: int) -> None:
    """Type a move, and again if it is told that the line is broken."""
    session.expect(FRANK)
    session.type(f"{cell + 1}\n")
    while session.hear(rf"Waiting for bob\.\r\n|{FRANK}").endswith(FRANK):
        session.type(f"{cell + 1}\n")
