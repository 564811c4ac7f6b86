"""A small server that speaks as one of noughts does, and on demand as none should.

It knows the rules by the library's own service. What it is to do instead of answering is put into
`harm`, by the end of the path; each is done once, in order.
"""

from __future__ import annotations

import json
import re
import socket
import threading
from collections import defaultdict, deque
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from noughts import Mark, NoughtsError, O, Service, X, encode
from noughts.core.events import PlayerNotifyIllegalMove
from noughts.core.game import CreateGame, JoinGame, PlaceToken, Resign, TakeBack
from noughts.store.errors import StaleVersion
from noughts.store.memory import MemoryStore
from support.command import environment
from support.pseudo_terminal import in_terminal

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable
    from pathlib import Path
    from typing import Self

    from noughts import Answer, Command
    from support.pseudo_terminal import Session

    Harm = Callable[["Handler"], None]

API = "/api/v1"
SECRETS = {"X": "secret-of-X", "O": "secret-of-O"}
INVITE = "c0de-of-the-invitation"


def home(folder: Path) -> dict[str, str]:
    """Return an environment in which seats are kept in that folder."""
    return environment(PYTHONUNBUFFERED="", HOME=str(folder), XDG_DATA_HOME=str(folder))


def seats(folder: Path) -> list[Path]:
    """Return the files of the seats that are kept there."""
    return sorted((folder / "noughts" / "seats").iterdir())


def joined(server: FarServer, folder: Path, *options: str) -> Session:
    """Take O's seat in a terminal, as frank."""
    colour = "--color", "never"
    return in_terminal("join", server.invitation, "--name", "frank", *colour, *options, env=home(folder))


def text(status: int, body: bytes | str, kind: str = "application/json", **headers: str) -> Harm:
    """Return the harm of an answer of one's own."""
    written = body.encode() if isinstance(body, str) else body
    return lambda handler: handler.answer(status, written, kind, **headers)


def problem(status: int, code: str, detail: str, **headers: str) -> Harm:
    """Return the harm of a refusal."""
    body = json.dumps({"status": status, "code": code, "detail": detail})
    return text(status, body, "application/problem+json", **headers)


def raw(answer: bytes) -> Harm:
    """Return the harm of saying what is not even HTTP, and hanging up."""
    return lambda handler: handler.say(answer)


def hang_up(_handler: Handler) -> None:
    """Say nothing, and hang up."""


def after_all(handler: Handler) -> None:
    """Do what was asked, and hang up without a word about it."""
    handler.is_mute = True
    handler.serve()


class Stop:
    """The harm of silence, until it is let go on."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self._gone_on = threading.Event()
        self.set = self._gone_on.set

    def __call__(self, _handler: Handler) -> None:
        """Say nothing."""
        self.reached.set()
        self._gone_on.wait(60)


class FarGame:
    """One game, and what stands around it."""

    def __init__(self, service: Service, name: str, first: Mark = X, **room: object) -> None:
        self.service = service
        self.name = name
        self.first = first
        self.bots: dict[str, str] = {}
        self.present = {"X": True, "O": True}
        self.taken = {"X": True, "O": True}
        self.offer: dict[str, str] | None = None
        self.next: str | None = None
        self.is_open = False
        self.score = {"X": 0, "O": 0, "draws": 0}
        self.used_key: str | None = None
        self.rooms: list[dict[str, Any]] = []
        """Every room that was told, so that nobody misses one who is slow to look."""
        vars(self).update(room)
        self.do(CreateGame(first, open_seats=True))

    def do(self, command: Command, version: int | None = None, key: str | None = None) -> Answer:
        """Obey a command; whatever was offered lapses."""
        self.offer = None
        return self.service.handle(self.name, command, version=version, key=key)

    def room(self) -> dict[str, Any]:
        """Return what stands around the game."""
        game = self.service.look(self.name).game
        names = {str(player.mark): player.name for player in game.players}
        seats = {
            mark: {
                "name": names.get(mark),
                "bot": self.bots.get(mark),
                "taken": self.taken[mark],
                "present": self.present[mark],
            }
            for mark in "XO"
        }
        return {
            "seats": seats,
            "lobby": self.is_open,
            "watching": 0,
            "offer": self.offer,
            "score": self.score,
            "next": self.next,
        }

    def view(self, you: list[str]) -> dict[str, Any]:
        """Return the game as it stands."""
        now = self.service.look(self.name)
        return {
            "id": self.name,
            "version": now.version,
            "events": [encode(event) for event in now.events],
            "you": you,
            "room": self.room(),
        }


class FarServer(ThreadingHTTPServer):
    """A server with one game in which X, called bob, waits for an O by invitation."""

    daemon_threads = True

    def __init__(self, secured: ssl.SSLContext | None = None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        if secured:
            self.socket = secured.wrap_socket(self.socket, server_side=True)
        self.scheme = "https" if secured else "http"
        self.harm: dict[str, deque[Harm]] = defaultdict(deque)
        self.asked: list[tuple[str, dict[str, str], Any]] = []
        """Every request: its path, its headers and its body."""
        self.heard_join: Callable[[], None] = lambda: None
        self.changed = threading.Condition()
        self.is_closed = False
        self.pause = threading.Event()
        self.lines: list[socket.socket] = []
        self.muted: set[socket.socket] = set()
        service = Service(MemoryStore())
        self.games: dict[str, FarGame] = {}
        self.game = self.add(FarGame(service, "thegame", taken={"X": True, "O": False}))
        self.game.do(JoinGame(X, "bob"))

    def add(self, game: FarGame) -> FarGame:
        """Keep a game."""
        self.games[game.name] = game
        return game

    @property
    def url(self) -> str:
        """Where the server is."""
        return f"{self.scheme}://127.0.0.1:{self.server_address[1]}"

    @property
    def invitation(self) -> str:
        """Where O is asked to come."""
        return f"{self.url}/game/thegame#{INVITE}"

    @property
    def watching(self) -> str:
        """Where the game can be watched, or come back to."""
        return f"{self.url}/game/thegame"

    def do(self, command: Command) -> None:
        """Let somebody else play."""
        self.game.do(command)
        self.tell()

    def place(self, *cells: int) -> None:
        """Let X place tokens, on cells as people count them."""
        for cell in cells:
            self.do(PlaceToken(X, cell - 1))

    def seat_frank(self) -> None:
        """Let frank take O's seat, wherever he is."""
        self.game.do(JoinGame(O, "frank"))
        self.tell(taken={"X": True, "O": True})

    def rematch(self, mark: str) -> None:
        """Let one of them want another game, or agree to it."""
        line = HTTPConnection("127.0.0.1", self.server_address[1])
        headers = {"Authorization": f"Bearer {SECRETS[mark]}", "From": "the test"}
        line.request("POST", f"{API}/games/{self.game.name}/rematch", json.dumps({"key": "k"}), headers)
        with suppress(HTTPException):  # what is in store for the next one may befall this one
            line.getresponse().read()
        line.close()

    def stop_at(self, end: str) -> Stop:
        """Stop at the next request to a path that ends so, and be silent."""
        stop = Stop()
        self.harm[end].append(stop)
        return stop

    def tell(self, **room: object) -> None:
        """Change the room, and tell all who listen."""
        with self.changed:
            vars(self.game).update(room)
            self.game.rooms.append(self.game.room())
            self.changed.notify_all()

    def push(self, raw: bytes) -> None:
        """Write something of one's own to all who listen."""
        for line in tuple(self.lines):
            with suppress(OSError):
                line.sendall(raw)

    def mute(self) -> None:
        """Send nothing more on the streams that are open, and keep them open."""
        with self.changed:
            self.muted.update(self.lines)

    def cut(self) -> None:
        """Hang up on all who listen."""
        for line in tuple(self.lines):
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

    def paths(self) -> list[str]:
        """Return what was asked for, in order."""
        return [path for path, _, _ in self.asked]

    def bodies(self, end: str) -> list[Any]:
        """Return what was sent to paths that end so."""
        return [body for path, _, body in self.asked if path.endswith(end)]

    def handle_error(self, *_: object) -> None:
        """Keep to oneself who hung up on us."""

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, args=[0.01], daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.pause.set()
        self.cut()
        self.shutdown()
        with self.changed:
            self.is_closed = True
            self.changed.notify_all()  # or the streams would keep their threads and sockets
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: FarServer
    is_mute = False

    def do_GET(self) -> None:
        """Tell something."""
        self._handle(None)

    def do_POST(self) -> None:
        """Do something."""
        self._handle(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _handle(self, body: object) -> None:
        self.body: Any = body
        server = self.server
        if "From" not in self.headers:
            server.asked.append((self.path, dict(self.headers.items()), body))
        for end, harms in server.harm.items():
            if self.path.endswith(end) and harms:
                harms.popleft()(self)
                return
        self.serve()

    def serve(self) -> None:
        """Answer as a server should."""
        path = self.path.removeprefix(API)
        if path == "/games":
            self._answer_games()
            return
        found = re.fullmatch(r"/games/(\w+)(/.*)?", path)
        game = self.server.games.get(found[1]) if found else None
        if not found or not game:
            self._refuse(404, "notFound", "There is no such game, or there is no seat of yours at it.")
            return
        try:
            self._serve(game, found[2] or "")
        except StaleVersion as error:
            self._refuse(409, "staleVersion", str(error))
        except NoughtsError as error:
            self._refuse(409, "nameRefused", str(error))

    def _serve(self, game: FarGame, what: str) -> None:
        you = self._you()
        body = self.body or {}
        seen = {"version": body.get("version"), "key": body.get("key")}
        mark = Mark(body["mark"]) if "mark" in body else X
        match what:
            case "":
                self.answer_json(200, game.view(you))
            case "/events":
                self._stream(game)
            case "/join":
                self._join(game)
            case "/moves":
                self._moved(game, game.do(PlaceToken(mark, body["cell"]), **seen))
            case "/resign":
                self._moved(game, game.do(Resign(mark), **seen))
            case "/take-back" if game.bots:
                self._moved(game, game.do(TakeBack(mark), **seen))
            case "/take-back":
                self.server.tell(offer={"kind": "takeBack", "mark": str(mark)})
                self.answer_json(202, self._after(game, None))
            case "/take-back/answer":
                asked = Mark((game.offer or {"mark": "X"})["mark"])
                done = game.do(TakeBack(asked), key=body["key"]) if body["accept"] else None
                game.offer = None
                self._moved(game, done)
            case "/rematch":
                self._rematch(game, you)
            case _:
                self._refuse(404, "notFound", "There is no such thing.")

    def _join(self, game: FarGame) -> None:
        self.server.heard_join()
        is_invited = self.body["invite"] == (None if game.is_open else INVITE)
        if not is_invited or game.used_key not in (None, self.body["key"]):
            self._refuse(404, "notFound", "There is no such game, or there is no seat of yours at it.")
            return
        if game.used_key is None:
            game.used_key = self.body["key"]
            game.do(JoinGame(O, self.body.get("name", "Guest")))
            self.server.tell(taken={"X": True, "O": True})
        self._seat(game, ["O"])

    def _rematch(self, game: FarGame, you: list[str]) -> None:
        if game.next:
            self._seat(self.server.games[game.next], you)
        elif game.offer:
            following = FarGame(game.service, f"{game.name}2", game.first.other, score=game.score)
            self.server.add(following)
            for player in game.service.look(game.name).game.players:
                following.do(JoinGame(player.mark, player.name))
            with self.server.changed:
                game.offer, game.next = None, following.name
                self.server.changed.notify_all()
            self._seat(following, you)
        else:
            self.server.tell(offer={"kind": "rematch", "mark": you[0]})
            self.answer_json(202, self._after(game, None))

    def _answer_games(self) -> None:
        if self.body:
            opponent = self.body["opponent"]
            service = self.server.game.service
            is_bot, free = opponent == "bot", {"X": True, "O": opponent in ("bot", "self")}
            made = FarGame(service, "madegame", taken=free, is_open=opponent == "lobby")
            made.bots = {"O": self.body["bot"]} if is_bot else {}
            self.server.add(made)
            made.do(JoinGame(X, self.body.get("name", "Guest")))
            if is_bot:
                made.do(JoinGame(O, self.body["bot"]))
            self._seat(made, ["X"], INVITE if opponent == "friend" else None)
            return
        games = [game for game in self.server.games.values() if game.is_open]
        waits = [{"id": game.name, "name": "bob", "mark": "O"} for game in games if not game.taken["O"]]
        played = [{"id": game.name, "X": "bob", "O": "frank"} for game in games if game.taken["O"]]
        self.answer_json(200, {"open": waits, "playing": played})

    def _seat(self, game: FarGame, marks: list[str], invite: str | None = None) -> None:
        secrets = {mark: SECRETS[mark] for mark in marks}
        seated = {"id": game.name, "marks": marks, "secrets": secrets, "invite": invite}
        self.answer_json(200, {**seated, "game": game.view(marks)})

    def _moved(self, game: FarGame, done: Answer | None) -> None:
        if done and isinstance(done.events[0], PlayerNotifyIllegalMove):
            code = done.events[0].reason.value
            self._refuse(409, code, f"That is refused: {code}.")
            return
        self.answer_json(200, self._after(game, done))
        self.server.tell()

    def _after(self, game: FarGame, done: Answer | None) -> dict[str, Any]:
        version = done.version if done else game.service.look(game.name).version
        events = [encode(event) for event in done.events] if done else []
        return {"version": version, "events": events, "offer": game.offer}

    def _you(self) -> list[str]:
        given = self.headers.get("Authorization", "")
        return [mark for mark, secret in SECRETS.items() if given == f"Bearer {secret}"]

    def _stream(self, game: FarGame) -> None:
        """Tell the room and all events after the one that was seen last, until somebody hangs up."""
        server, line = self.server, self.connection
        told = int(self.headers.get("Last-Event-ID", "0"))
        self.say(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nretry: 1000\n\n")
        server.lines.append(line)
        room: dict[str, Any] = {}
        seen = len(game.rooms)
        try:
            with server.changed:
                while not server.is_closed:
                    server.changed.wait_for(lambda: line not in server.muted or server.is_closed)
                    events = game.service.look(game.name).events
                    for version in range(told + 1, len(events) + 1):
                        data = json.dumps(encode(events[version - 1]))
                        self.say(f"id: {version}\ndata: {data}\n\n".encode())
                    told = len(events)
                    for now in (*game.rooms[seen:], game.room()):
                        if now != room:
                            room = now
                            self.say(f"event: room\ndata: {json.dumps(room)}\n\n".encode())
                    seen = len(game.rooms)
                    server.changed.wait()
        finally:
            server.lines.remove(line)

    def answer_json(self, status: int, body: object) -> None:
        """Answer as agreed."""
        self.answer(status, json.dumps(body).encode(), "application/json; charset=utf-8")

    def _refuse(self, status: int, code: str, detail: str) -> None:
        problem(status, code, detail)(self)

    def answer(self, status: int, body: bytes, kind: str, **headers: str) -> None:
        """Answer, unless nothing is to be heard of it."""
        if self.is_mute:
            return
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def say(self, words: bytes) -> None:
        """Say something, as it is."""
        self.wfile.write(words)

    def log_message(self, *_: object) -> None:
        """Keep no log."""
