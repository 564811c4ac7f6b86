"""Print the modules of noughts.web that a move enters: python -m benchmarks.web.modules.

A game between two people with both streams open, the application called as a server would call it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from typing import TYPE_CHECKING, Any

from noughts.web.app import Application
from noughts.web.settings import Settings

if TYPE_CHECKING:
    from types import FrameType

MOST = 7


class Client:
    """Calls the application."""

    def __init__(self, app: Application) -> None:
        self._app = app
        self.sent = asyncio.Event()

    async def call(self, method: str, path: str, body: object = None, secret: str = "") -> Any:  # noqa: ANN401 - JSON
        """Send a request; return the JSON of its answer."""
        messages = iter([{"type": "http.request", "body": json.dumps(body).encode() if body else b""}])
        answers: list[Any] = []

        async def receive() -> Any:  # noqa: ANN401 - as ASGI defines it
            message = next(messages, None)
            if message is None:
                await asyncio.Event().wait()
            return message

        async def send(message: Any) -> None:  # noqa: ANN401 - as ASGI defines it
            answers.append(message)
            self.sent.set()

        headers = [(b"content-type", b"application/json"), (b"host", b"localhost")]
        headers += [(b"authorization", f"Bearer {secret}".encode())] if secret else []
        scope = {"type": "http", "method": method, "path": f"/api/v1{path}", "query_string": b""}
        await self._app({**scope, "headers": headers, "client": ("127.0.0.1", 1)}, receive, send)
        return json.loads(answers[1]["body"])


async def entered() -> set[str]:
    """Return the modules whose functions are called between a move and its arrival on both streams."""
    app = Application(Settings(log="error"), {})
    client = Client(app)
    made = await client.call("POST", "/games", {"opponent": "friend", "secret": True})
    path = f"/games/{made['id']}"
    body = {"invite": made["invite"], "key": "k" * 20, "secret": True}
    joined = await client.call("POST", f"{path}/join", body)
    secrets = made["secrets"]["X"], joined["secrets"]["O"]
    watchers = [Client(app) for _ in secrets]
    streams = [
        asyncio.ensure_future(one.call("GET", f"{path}/events", secret=secret))
        for one, secret in zip(watchers, secrets, strict=True)
    ]
    await asyncio.sleep(2)  # until everybody is shown as present
    for one in watchers:
        one.sent.clear()
    found: set[str] = set()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        name = frame.f_globals.get("__name__", "")
        if event == "call" and name.startswith("noughts.web."):
            found.add(name)

    sys.setprofile(note)
    move = {"cell": 4, "version": joined["game"]["version"], "key": "move"}
    await client.call("POST", f"{path}/moves", move, secrets[0])
    for one in watchers:
        await one.sent.wait()
    sys.setprofile(None)
    for stream in streams:
        stream.cancel()
    await asyncio.gather(*streams, return_exceptions=True)
    await app.close()
    return found


def main() -> int:
    """Print the modules; return 1 if there are too many."""
    logging.getLogger("noughts.web").setLevel(logging.ERROR)
    found = asyncio.run(entered())
    print(f"{len(found)} (aim: ≤ {MOST}):", *sorted(found))
    return len(found) > MOST


if __name__ == "__main__":
    sys.exit(main())
