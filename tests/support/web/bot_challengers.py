"""Clients that play bots as fast as possible."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from random import Random
from typing import Any, NamedTuple

from support.web.serving import BASE, new_key
from support.web.stream_reader import Address

BOT_TIMEOUT_SECONDS = 30.0
"""How long a bot may take for a move before it counts as forgotten; the server checks every second."""


class HttpConnection(NamedTuple):
    """A connection to the server."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def send(self, method: str, path: str, body: object = None, secret: str = "") -> None:
        content = b"" if body is None else json.dumps(body).encode()
        authorization = f"Authorization: Bearer {secret}\r\n" if secret else ""
        head = (
            f"{method} {BASE}{path} HTTP/1.1\r\nHost: noughts\r\n{authorization}"
            f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        self.writer.write(head.encode() + content)

    async def answer(self) -> Any:
        head = (await self.reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.partition(b"content-length:")[2].split(b"\r\n")[0])
        body = await self.reader.readexactly(length)
        assert head.split(b" ")[1] in (b"200", b"201"), body
        return json.loads(body)


class Challengers:
    """Clients that play until the bots have made a number of moves."""

    def __init__(self, place: Address, people: int, moves: int, chance: Random) -> None:
        self._place = place
        self._people = people
        self._most = moves
        self._chance = chance
        self.numbers: Counter[str] = Counter(moves=0, forgotten=0, games=0)

    async def play(self) -> None:
        await asyncio.gather(*(self._sit() for _ in range(self._people)))

    async def _sit(self) -> None:
        """Play one game after another, with one connection for commands."""
        line = HttpConnection(*await asyncio.open_connection(*self._place))
        try:
            while self.numbers["moves"] < self._most:
                await self._game(line)
        except TimeoutError:
            self.numbers["forgotten"] += 1
        finally:
            line.writer.close()

    async def _game(self, line: HttpConnection) -> None:
        asked = {"opponent": "bot", "bot": "random", "first": "random", "secret": True}
        line.send("POST", "/games", asked)
        seat = await line.answer()
        game, secret = seat["id"], seat["secrets"]["X"]
        stream = HttpConnection(*await asyncio.open_connection(*self._place))
        try:
            stream.send("GET", f"/games/{game}/events", secret=secret)
            position = await self._turn(stream, 0)
            while not position["over"]:
                free = [cell for cell in range(9) if cell not in position["moves"]]
                body = {
                    "cell": self._chance.choice(free),
                    "version": position["version"],
                    "key": new_key(),
                }
                line.send("POST", f"/games/{game}/moves", body, secret)
                await line.answer()
                position = await self._turn(stream, position["version"])
            self.numbers["games"] += 1
            marks = len(position["moves"]) + (position["first"] == "O")
            self.numbers["moves"] += marks // 2
        finally:
            stream.writer.close()

    async def _turn(self, stream: HttpConnection, version: int) -> Any:
        """Wait for the position, after a version, in which X is to move or the game is over."""
        async with asyncio.timeout(BOT_TIMEOUT_SECONDS):
            while line := await stream.reader.readline():
                if line == b"event: position\n":
                    data = (await stream.reader.readline()).removeprefix(b"data: ")
                    position = json.loads(data)
                    is_first = position["first"] == "X"
                    is_ours = position["over"] or len(position["moves"]) % 2 != is_first
                    if position["version"] > version and is_ours:
                        return position
        raise AssertionError("the stream is over")
