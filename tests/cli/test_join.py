"""`noughts join` on a real server: what is shown, what is sent, and what is saved."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path
from threading import Event

import pytest

from support.deadlines import LONG_DEADLINE_SECONDS
from support.forked import noughts
from support.live_board import LiveBoard
from support.pseudo_terminal import CTRL_C, CTRL_D, Session, between_pipes, in_terminal
from support.remote import HostedGame, home, problem, seats, text
from support.web.matches import Seat
from support.web.serving import Server

BOB, FRANK = "bob, enter a position from 1 to 9: ", "frank, enter a position from 1 to 9: "
AGAIN = "Play again? (y/n) "
TAKE = "Take the free seat? (y/n) "


def terminal(folder: Path, *arguments: str) -> Session:
    """Join in a terminal that saves its seats in that folder."""
    return in_terminal("join", *arguments, "--color", "never", env=home(folder))


# A game


def test_a_game_in_place(game: HostedGame, tmp_path: Path) -> None:
    with LiveBoard(tmp_path, "join", game.invitation, "--name", "frank") as live:
        live.see("Waiting for bob.")
        live.press("5")  # it is not frank's turn
        game.place(1)
        live.see("bob takes 1.", "Your move.")
        live.press("5")
        live.see("Waiting for bob.")
        game.place(2)
        live.see("bob takes 2.", "Your move.")
        live.press("h")
        live.see("Take 3")
        live.press("9")
        live.see("Waiting for bob.")
        game.place(3)
        live.see("bob Won!", "you took 9", "Enter again", "bob 1 · you 0")
        live.press("q")
        assert live.end() == 0


def test_an_invitation_is_shown_on_a_page_of_its_own(server: Server, tmp_path: Path) -> None:
    with LiveBoard(tmp_path, "join", f"http://{server.host}:{server.port}/", "--friend") as live:
        rows = live.see("To play with you, a friend opens", "any key goes back")
        assert re.search(r"http://\S+#\S+", "".join(rows)), rows
        live.press("x")
        live.see("Waiting for somebody to take the other seat.")
        live.press("q")
        assert live.end() == 0
        assert "To go on: noughts join http" in live.screen.text


def test_what_is_typed_ahead_of_the_board_counts(server: Server, tmp_path: Path) -> None:
    with HostedGame(server, "lobby") as game, LiveBoard(tmp_path, "join", game.address) as live:
        live.see(TAKE.strip())
        live.press("y\r?")
        live.see("any key goes back", "resign: gives the game up")


def test_a_whole_game(game: HostedGame, tmp_path: Path) -> None:
    """The output of a game between pipes, line by line."""
    with between_pipes(
        "join", game.invitation, "--name", "frank", "--wording", "gem", env=home(tmp_path)
    ) as session:
        session.expect("Waiting for bob.\n")
        game.place(1)
        for mine, theirs in ((4, 2), (9, 3)):
            session.expect("to make your move\n")
            session.type(f"{mine}\n")
            session.expect("Waiting for bob.\n")
            game.place(theirs)
        session.expect(f"{AGAIN.strip()}\n")
        session.type("n\n")

        assert session.end() == 0

    assert session.output.decode().splitlines() == [
        "You play O against bob.",
        f"To come back: noughts join {game.address}",
        *["_ _ _", "_ _ _", "_ _ _", "Waiting for bob."],
        *["bob takes 1.", "X _ _", "_ _ _", "_ _ _"],
        "",
        "frank: Enter a number between 1 and 9 to make your move",
        *["X _ _", "O _ _", "_ _ _", "Waiting for bob."],
        *["bob takes 2.", "X X _", "O _ _", "_ _ _"],
        "",
        "frank: Enter a number between 1 and 9 to make your move",
        *["X X _", "O _ _", "_ _ O", "Waiting for bob."],
        *["bob takes 3.", "bob won!", "X X X", "O _ _", "_ _ O"],
        "Score: bob 1, frank 0, draws 0",
        AGAIN.strip(),
        "Goodbye!",
    ]


def test_a_terminal_and_a_browser_play_each_other(server: Server, tmp_path: Path) -> None:
    """The browser has cookies, the terminal its seat; each sees the other's moves."""
    with server.client() as browser:
        made = browser.post("/games", {"opponent": "friend", "name": "bob"}).json
        bob, link = Seat(browser, made["id"]), f"{server.url}/game/{made['id']}#{made['invite']}"
        with terminal(tmp_path, link, "--name", "frank") as frank, bob.follow() as stream:
            frank.expect("Waiting for bob.")
            for theirs, mine in ((1, 4), (2, 5), (3, None)):
                version = bob.version
                assert bob.move(theirs - 1).status == 200
                frank.expect(f"bob takes {theirs}.")
                if mine:
                    frank.expect(FRANK)
                    frank.type(f"{mine}\n")
                    stream.wait_version(version + 6)
            frank.expect("bob Won!")
            frank.expect(AGAIN)

        assert browser.cookies
        assert browser.read(bob.game)["moves"] == [0, 3, 1, 4, 2]


def test_two_terminals_play_and_a_third_watches(server: Server, tmp_path: Path) -> None:
    """An invitation, a take-back, and a rematch that the watcher follows."""
    x, o, w = tmp_path / "x", tmp_path / "o", tmp_path / "w"
    with terminal(x, server.url, "--friend", "--name", "bob") as bob:
        found = re.search(r"To play with you, a friend opens (\S+)\r\n", bob.read_until("opens .*\r\n"))
        assert found
        link = found[1]
        bob.expect("You play X.\r\n")
        bob.expect("Waiting for somebody to take the other seat.")
        bob.type("5\n")
        bob.expect("Nobody has joined yet.")
        with (
            terminal(o, link, "--name", "frank") as frank,
            terminal(w, link.partition("#")[0]) as watcher,
        ):
            watcher.expect("You watch bob against ")
            frank.expect("You play O against bob.")
            bob.expect(f"frank plays O.\r\n\r\n{BOB}")
            bob.type("1\n")
            for who, words in ((frank, "4"), (bob, "2"), (frank, "5"), (bob, "undo")):
                who.expect(BOB if who is bob else FRANK)
                who.type(f"{words}\n")
            frank.expect("bob wants to take back. Agree? (y/n) ")
            frank.type("y\n")
            bob.expect("bob took back.\r\nX|2|3\r\n-+-+-\r\nO|5|6\r\n")
            for who, words in ((bob, "2"), (frank, "9"), (bob, "3")):
                who.expect(BOB if who is bob else FRANK)
                who.type(f"{words}\n")
            for one in (bob, frank):
                one.expect("bob Won!\r\nThe game turned on move ")
                one.expect("Score: bob 1, frank 0, draws 0\r\n")
                one.expect(AGAIN)
                one.type("y\n")
            watcher.expect("bob Won!")
            for one in (bob, frank, watcher):
                one.expect("frank starts.\r\n1|2|3\r\n-+-+-\r\n4|5|6")
            frank.expect(FRANK)
            frank.type("5\n")
            bob.expect("frank takes 5.")
            watcher.expect("frank:\r\n1|2|3\r\n-+-+-\r\n4|O|6")
            for one in (bob, frank, watcher):
                one.type("quit\n")
                assert one.end() == 0


def test_a_move_is_sent_with_its_version_a_key_and_the_secret(game: HostedGame, tmp_path: Path) -> None:
    """No secret is shown, whatever is typed."""
    with game.asked(tmp_path) as session:
        session.type("1\n")
        session.expect("Waiting for bob.")
        secret = game.frank(tmp_path).client.secret or ""
        session.type("1\nwhy\nhelp\nundo\nquit\n")
        session.end()

    (request,) = [one for one in game.proxy.requests if one.path.endswith("/moves")]
    assert len(request.body.pop("key")) == 26
    assert request.body == {"cell": 0, "version": 8, "mark": "O"}
    assert request.headers["Authorization"] == f"Bearer {secret}"
    assert secret not in session.output.decode()
    assert game.invite not in session.output.decode()


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("5", "Position is Invalid!\r\nThat cell is taken: the free cells are 1, 2, 3, 4, 6, 7, 8, 9."),
        ("0", "Type a number from 1 to 9, or help."),
        ("\x07", "That is not plain text: it has characters that cannot be shown."),
        ("undo", "There is nothing to take back."),
        (
            "hint",
            (
                "Take 1: it is safe; 2, 4, 6 or 8 would let X force a fork (2, then 1, 9, 4, 6, 7). "
                "3, 7 or 9 is as good."
            ),
        ),
        ("why", "X on 5 has four lines still open."),
        ("why 1", "1 is safe; "),
        *((word, "a person on a server is asked first") for word in ("help", "?")),
    ],
    ids=repr,
)
def test_most_input_needs_no_server(game: HostedGame, tmp_path: Path, typed: str, answer: str) -> None:
    """Mistakes and the coach are handled here; then the question is asked again."""
    with game.asked(tmp_path) as session:
        session.type(f"{typed}\n")

        said = session.expect(FRANK)

    assert " ".join(answer.split()) in " ".join(said.split())
    assert game.proxy.bodies("/moves") == game.proxy.bodies("/take-back") == []


def test_input_while_the_other_player_moves(game: HostedGame, tmp_path: Path) -> None:
    """A move has to wait; a hint does not."""
    with game.terminal(tmp_path) as session:
        session.expect("Waiting for bob.")
        session.type("5\n")
        session.expect("It is not your turn: bob is to move.")
        game.place(4)
        session.expect(FRANK)
        session.type("1\n")
        session.expect("Waiting for bob.")
        session.type("1\n")
        session.expect("Position is Invalid!")
        session.type("hint\n")
        session.expect("is as good.")


def test_an_event_replaces_the_question(game: HostedGame, tmp_path: Path) -> None:
    """The other player resigns while we think."""
    with game.asked(tmp_path) as session:
        game.resign()

        assert session.expect(AGAIN).startswith("\r\nbob resigned.\r\n")


# Taking back


def test_a_take_back_needs_consent(game: HostedGame, tmp_path: Path) -> None:
    """Bob declines, and then agrees."""
    with game.asked(tmp_path) as session:
        session.type("1\n")
        session.expect("Waiting for bob.")

        session.type("undo\n")
        session.expect("Asked bob to allow it.")
        game.answer(accept=False)
        session.expect("bob does not agree.")
        session.type("undo\n")
        session.expect("Asked bob to allow it.")
        game.answer(accept=True)

        assert session.expect(FRANK).startswith("\r\nfrank took back.\r\n1|2|3\r\n")
        game.go()
        assert session.expect("bob is not here now.") == "\r\nbob is not here now."


def test_an_old_answer_does_not_hide_a_newer_offer(game: HostedGame, tmp_path: Path) -> None:
    """The stream can be ahead of the answer to a move."""
    is_shown = Event()

    def answer_late(answer: bytes) -> bytes:
        game.take_back()
        game.go()
        is_shown.wait(LONG_DEADLINE_SECONDS)
        return answer

    game.proxy.replace("/moves", answer_late)
    with between_pipes("join", game.invitation, "--name", "frank", env=home(tmp_path)) as session:
        session.expect("Waiting for bob.")
        game.place(5)
        session.expect(FRANK.strip())
        session.type("1\ny\n")  # in a pipe, the second line waits for the answer to the first
        session.expect("bob is not here now.")

        is_shown.set()

        session.expect("bob took back.")


@pytest.mark.parametrize(
    ("answer", "accepts", "shown"),
    [
        ("y", [True], "bob took back."),
        ("YES", [True], "bob took back."),
        ("n", [False], FRANK),
        ("no", [False], FRANK),
        ("1", [], "Waiting for bob."),
    ],
)
def test_an_offer_to_take_back_is_answered(
    game: HostedGame, tmp_path: Path, answer: str, accepts: list[bool], shown: str
) -> None:
    """It replaces the question for a move; a move declines it without an answer."""
    with game.asked(tmp_path) as session:
        game.take_back()
        session.expect("\r\n\r\nbob wants to take back. Agree? (y/n) ")

        session.type(f"{answer}\n")

        session.expect(shown)
    bodies = game.proxy.bodies("/answer")
    assert [body["accept"] for body in bodies] == accepts
    assert all(len(body["key"]) == 26 for body in bodies)
    assert len(game.proxy.bodies("/moves")) == (answer == "1")


def test_an_offer_is_answered_once(game: HostedGame, tmp_path: Path) -> None:
    """Also while the server still has it."""
    game.proxy.replace("/answer", text(200, '{"version":8,"offer":null}'))
    with game.asked(tmp_path) as session:
        game.take_back()
        session.expect("Agree? (y/n) ")

        session.type("n\n")

        assert session.expect(FRANK) == f"\r\n{FRANK}"


# Rematches


def test_a_rematch_starts_when_both_agree(game: HostedGame, tmp_path: Path) -> None:
    """The seat of the next game replaces the saved one."""
    with game.asked(tmp_path) as session:
        before = seats(tmp_path)
        session.type("resign\n")
        result = session.expect(AGAIN)
        session.type("y\n")
        session.expect("Waiting for bob to agree.")

        game.rematch()

        said = session.expect(FRANK)
    assert "frank resigned.\r\n" in result
    early = "Best play would still have drawn: frank resigned too early."
    assert f"bob Won!\r\n{early}\r\nScore: bob 1, frank 0, draws 0\r\n" in result
    assert said.startswith("\r\nfrank starts.\r\n1|2|3\r\n")
    assert len(seats(tmp_path)) == 1
    assert seats(tmp_path) != before


def test_an_offered_rematch_is_accepted(game: HostedGame, tmp_path: Path) -> None:
    """The next game starts at once."""
    with game.asked(tmp_path) as session:
        session.type("resign\n")
        session.expect(AGAIN)
        game.rematch()
        session.expect(f"\r\nbob wants to play again.\r\n{AGAIN}")

        session.type("maybe\n")
        session.expect(f"Please answer y or n.\r\n{AGAIN}")
        session.type("Y\n")

        session.expect("frank starts.")
        session.expect(FRANK)


def test_a_refused_rematch_is_shown(game: HostedGame, tmp_path: Path) -> None:
    """The question is asked again."""
    game.proxy.replace("/rematch", problem(409, "notOver", "The game is not over."))
    with game.asked(tmp_path) as session:
        session.type("resign\n")
        session.expect(AGAIN)
        session.type("y\n")

        said = session.expect(AGAIN)

    assert said.startswith("The game is not over.\r\n")


def test_a_watcher_follows_to_the_next_game(game: HostedGame, tmp_path: Path) -> None:
    """Watchers send no secret, and can ask the coach."""
    frank = game.seat_frank()
    with terminal(tmp_path, game.address) as session:
        session.expect("You watch bob against frank.\r\n1|2|3")
        game.place(5)
        session.expect("bob:\r\n1|2|3\r\n-+-+-\r\n4|X|6")
        session.type("1\n")
        session.expect("You are watching: type hint, why, help or quit.")
        session.type("hint\n")
        session.expect("frank is to move. 1 is safe; ")
        frank.resign()
        session.expect("frank resigned.")
        session.expect("bob Won!\r\n")
        session.expect("Score: bob 1, frank 0, draws 0")
        game.rematch()
        frank.rematch()

        session.expect("frank starts.")
    assert all("Authorization" not in request.headers for request in game.proxy.requests)


# Presence


def test_presence_is_shown(game: HostedGame, tmp_path: Path) -> None:
    """Each notice is followed by the question; somebody who was away from the start is named too."""
    with game.asked(tmp_path) as session:
        game.go()
        session.expect(f"\r\nbob is not here now.\r\n\r\n{FRANK}")
        game.come()
        session.expect(f"\r\nbob is back.\r\n\r\n{FRANK}")
        game.go()
        session.expect("bob is not here now.")
    with terminal(tmp_path, game.address) as session:
        session.expect("bob is not here now.")
        game.come()
        session.expect("bob is back.")


# Seats


def test_a_seat_is_saved(game: HostedGame, tmp_path: Path) -> None:
    """The address brings us back; somebody without the seat watches."""
    with game.asked(tmp_path) as session:
        session.type("1\n")
        session.expect("Waiting for bob.")
        session.type("quit\n")
        session.expect(f"To go on: noughts join {game.address}\r\nGoodbye!\r\n")
        assert session.end() == 0

    game.place(9)
    with terminal(tmp_path, game.address) as again:
        again.expect("You play O against bob.")
        again.expect(FRANK)
    with terminal(tmp_path, game.invitation) as again:
        again.expect(FRANK)
    with terminal(tmp_path / "another", game.address) as other:
        other.expect("You watch bob against frank.")
    assert len(game.proxy.bodies("/join")) == 1


def test_a_saved_seat_is_private(game: HostedGame, tmp_path: Path) -> None:
    """The key is saved before the seat is requested, and the secret before the first move."""
    found: list[tuple[int, int, dict[str, object]]] = []

    def look(answer: bytes) -> bytes:
        (file,) = seats(tmp_path)
        mode, folder = (path.stat().st_mode & 0o777 for path in (file, file.parent))
        found.append((mode, folder, json.loads(file.read_text())))
        file.chmod(0o644)  # the next save makes it private again
        return answer

    game.proxy.replace("/join", look)
    with game.terminal(tmp_path) as session:
        session.expect("Waiting for bob.")
        look(b"")

    key = game.proxy.bodies("/join")[0]["key"]
    known = {"seat": 1, "game": game.address, "key": key}
    assert found[0] == (0o600, 0o700, {**known, "secret": None})
    assert found[1] == (0o600, 0o700, {**known, "secret": game.frank(tmp_path).client.secret})


# Open games and bots


def test_a_free_seat_is_offered(server: Server, tmp_path: Path) -> None:
    """A person is asked, and watches after a no; a pipe only watches."""
    with HostedGame(server, "lobby") as game:
        for answer in (b"n\n", CTRL_D):
            with terminal(tmp_path, game.address) as session:
                session.expect(TAKE)
                session.type(answer)
                session.expect("You watch bob against Player O.")
        assert "You watch" in noughts("join", game.address, env=home(tmp_path)).stdout
        assert game.proxy.bodies("/join") == []
        with terminal(tmp_path, game.address, "--name", "frank") as session:
            session.expect(TAKE)
            session.type("what\n")
            session.expect(f"Please answer y or n.\r\n{TAKE}")
            session.type("y\n")
            session.expect("You play O against bob.")
        assert game.proxy.bodies("/join")[0]["invite"] is None


def test_open_games_are_listed(tmp_path: Path) -> None:
    """With their addresses, and how to play."""
    with Server("memory:") as server:
        nothing = noughts("join", server.url, env=home(tmp_path))
        with HostedGame(server, "lobby") as game:
            one = noughts("join", f"{game.proxy.url}/lobby", env=home(tmp_path))
            as_data = noughts("join", game.proxy.url, "--json", env=home(tmp_path)).stdout
            game.seat_frank()
            played = noughts("join", f"{game.proxy.url}/", env=home(tmp_path))
            both = noughts("join", game.address, "--json", env=home(tmp_path))

    assert [ran.returncode for ran in (nothing, one, played)] == [0, 0, 0]
    assert nothing.stdout == f"No open games.\nnoughts join {server.url}/ --play opens one.\n"
    assert one.stdout == (
        f"Open games:\n  {game.address}  bob (X)\n"
        f"noughts join {game.proxy.url}/ --play joins the oldest open game.\n"
    )
    assert f"Games in progress:\n  {game.address}  bob (X) against frank (O)\n" in played.stdout
    listed = {"id": game.game, "address": game.address, "players": {"X": "bob", "O": None}}
    assert json.loads(as_data) == {"open": [listed], "playing": []}
    assert "--json prints the list of games" in both.stderr


def test_strangers_meet(tmp_path: Path) -> None:
    """The first opens a game, and the second joins it."""
    with (
        Server("memory:") as server,
        terminal(tmp_path / "1", server.url, "--play", "--name", "bob") as bob,
    ):
        bob.expect("You play X.")
        bob.expect("Waiting for somebody to take the other seat.")
        with terminal(tmp_path / "2", f"{server.url}/lobby", "--play", "--name", "frank") as frank:
            frank.expect("You play O against bob.")
            bob.expect(BOB)


@pytest.mark.parametrize("bot", ["perfect", "random", "club", "bot:club"])
def test_a_bot_is_played(game: HostedGame, tmp_path: Path, bot: str) -> None:
    """With the coach's hints nobody loses; take-backs and rematches need no consent."""
    with terminal(tmp_path, game.proxy.url, "--bot", bot, "--name", "bob") as session:
        session.expect(f"You play X against {bot.removeprefix('bot:')} (bot).")
        _play_by_hints(session)
        session.type("y\n")
        session.expect(" starts.")
        session.expect(BOB)
        session.type("undo\n")
        session.expect("There is nothing to take back.")
        session.expect(BOB)
        _take_hint(session)
        session.expect(BOB)
        session.type("undo\n")
        session.expect("bob took back.")
        _play_by_hints(session)
        session.type("n\n")
        assert session.end() == 0

    shown = session.output.decode()
    scores = re.findall(r"Score: bob (\d+), .* (\d+), draws (\d+)\r\n", shown)
    assert [sum(map(int, score)) for score in scores] == [1, 2]
    assert scores[-1][1] == "0"
    assert "Waiting for" not in shown
    (sent,) = game.proxy.bodies("/games")
    assert len(sent.pop("key")) >= 16
    assert sent == {"opponent": "bot", "bot": bot.removeprefix("bot:"), "name": "bob", "secret": True}


def _take_hint(session: Session) -> None:
    session.type("hint\n")
    found = re.search(r"Take (\d): ", session.expect(BOB))
    assert found
    session.type(f"{found[1]}\n")


def _play_by_hints(session: Session) -> None:
    """Play the coach's best moves until the game is over."""
    while session.read_until(rf"{BOB}|{re.escape(AGAIN)}").endswith(BOB):
        _take_hint(session)


def test_refusals_are_shown(game: HostedGame, tmp_path: Path) -> None:
    """No free seat, a name that is taken, a used invitation, an unknown game and an unknown bot."""
    url = game.proxy.url
    seatless = noughts("join", game.address, "--play", env=home(tmp_path))
    same = noughts("join", game.invitation, "--name", "bob", env=home(tmp_path))
    first = noughts("join", game.invitation, "--name", "frank", env=home(tmp_path / "first"))
    second = noughts("join", game.invitation, "--name", "eve", env=home(tmp_path))
    absent = noughts("join", f"{url}/game/{'a' * 26}", env=home(tmp_path))
    bot = noughts("join", url, "--bot", "nonesuch", env=home(tmp_path))

    assert first.returncode == 0
    for ran in (seatless, same, second, absent, bot):
        assert (ran.returncode, ran.stdout) == (2, "")
    assert "leave out --play to watch" in seatless.stderr
    assert "different names" in same.stderr
    assert second.stderr == "noughts: that invitation is invalid or has been used\n"
    assert absent.stderr == f"noughts: no such game at {url}\n"
    assert "nonesuch" in bot.stderr


def test_a_limit_says_how_long_to_wait(tmp_path: Path) -> None:
    """The exit code is 1: it passes."""
    with Server("memory:", NOUGHTS_CREATES_PER_MINUTE="1") as server:
        good, bad = (noughts("join", server.url, "--bot", "club", env=home(tmp_path)) for _ in range(2))

    assert (good.returncode, bad.returncode) == (0, 1)
    assert re.search(r"noughts: too many .*: wait \d+ s\n", bad.stderr)


# Other screens


def test_a_small_screen(game: HostedGame, tmp_path: Path) -> None:
    """The board has three short rows, and is shown again after every message."""
    with in_terminal(
        "join", game.invitation, "--color", "never", size=(20, 5), env=home(tmp_path)
    ) as session:
        session.expect("Waiting for bob.")
        game.place(5)
        session.expect("bob takes 5.\r\n1 2 3\r\n4 X 6\r\n7 8 9\r\nO 1-9: ")
        session.type("help\n")
        session.expect("hint why undo quit\r\n1 2 3\r\n4 X 6\r\n7 8 9\r\nO 1-9: ")
        game.go()
        session.expect("bob is not here now.\r\n1 2 3\r\n4 X 6\r\n7 8 9\r\nO 1-9: ")


def test_positions_in_sentences(game: HostedGame, tmp_path: Path) -> None:
    """For screen readers."""
    with game.asked(tmp_path, "--describe", "--wording", "kata") as session:
        session.type("1\n")
        session.expect("bob (X) on 5, frank (O) on 1; bob (X) to move.")


# Leaving


@pytest.mark.parametrize("is_asked", [True, False])
def test_ctrl_c_says_how_to_come_back(game: HostedGame, tmp_path: Path, *, is_asked: bool) -> None:
    """During a question and while waiting."""
    with (game.asked if is_asked else game.terminal)(tmp_path) as session:
        if not is_asked:
            session.expect("Waiting for bob.\r\n")

        session.type(CTRL_C)

        assert session.end() == 130
    last = f"To go on: noughts join {game.address}\r\nGoodbye!\r\n"
    assert session.output.decode().endswith(last)


def test_the_end_of_input_leaves(game: HostedGame, tmp_path: Path) -> None:
    """Lines before the end are obeyed first."""
    with game.terminal(tmp_path) as session:
        session.expect("Waiting for bob.")
        session.type(CTRL_D)
        assert session.end() == 0
    game.place(5)
    ran = noughts("join", game.address, typed="1\nhint", env=home(tmp_path))

    assert (ran.returncode, ran.stderr) == (0, "")
    assert "O|2|3\n" in ran.stdout
    assert " is as good.\n" in ran.stdout
    assert ran.stdout.endswith(f"To go on: noughts join {game.address}\nGoodbye!\n")


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)]
)
def test_signals_end_the_command(
    game: HostedGame, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    """Background threads do not delay it."""
    with game.asked(tmp_path) as session:
        session.send(number)

        assert session.end() == code
    assert b"Traceback" not in session.output


@pytest.mark.parametrize("path", ["", "/events", "/join"])
def test_ctrl_c_works_while_the_server_is_silent(game: HostedGame, tmp_path: Path, path: str) -> None:
    """Whichever request stalls."""
    stall = game.proxy.stall(path)
    with game.terminal(tmp_path) as session:
        assert stall.reached.wait(LONG_DEADLINE_SECONDS)

        session.type(CTRL_C)

        assert session.end() == 130
