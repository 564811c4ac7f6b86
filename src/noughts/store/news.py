"""What a process says to the others of its changes, in texts that are short enough for a notification.

A text is the process and then a list: `q7… [["game",4,"<hash>",12,"<piece>","<room>"],…]`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TypeAlias

from noughts.store.base import News

MAX_PAYLOAD_BYTES = 7_999
"""PostgreSQL refuses a notification of 8,000."""

_Item: TypeAlias = tuple[str, int, str, int, str | None, str | None]


def encode_news(process: str, news: Sequence[News]) -> list[str]:
    """Write news as few texts, in order; what alone is too long goes without its piece and room."""
    payloads: list[str] = []
    items: list[str] = []
    space = room = MAX_PAYLOAD_BYTES - len(f"{process} []")
    for one in news:
        item = _encode(one)
        if len(item) > room:
            item = _encode(one._replace(piece=None, room=None))
        if len(item) > space:
            payloads.append(f"{process} [{','.join(items)}]")
            items, space = [], room
        items.append(item)
        space -= len(item) + 1
    return [*payloads, f"{process} [{','.join(items)}]"] if items else payloads


def decode_news(payload: str) -> tuple[str, list[News]]:
    """Return the process and its news; raise `ValueError` if no process writes such a text."""
    process, _, text = payload.partition(" ")
    try:
        found: list[_Item] = json.loads(text)
        return process, [
            News(game, revision, bytes.fromhex(digest), piece, room, hour)
            for game, revision, digest, hour, piece, room in found
        ]
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{payload[:40]!a} is not news: {error}") from error


def _encode(one: News) -> str:
    item: _Item = one.id, one.revision, one.hash.hex(), one.hour, one.piece, one.room
    return json.dumps(item, separators=(",", ":"))  # in ASCII: a character is a byte
