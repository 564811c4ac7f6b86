"""Addresses of servers, games and invitations."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from noughts.core.errors import NoughtsError, quoted
from noughts.core.value import Value

_PORTS = {"http": 80, "https": 443}
_GAME = re.compile(r"/game/([A-Za-z0-9_-]{1,64})/?")
_LOBBY = re.compile(r"/?|/lobby/?")
_INVITE = re.compile(r"[A-Za-z0-9_-]{1,128}")


class BadAddress(NoughtsError):
    """Text that is not the address of a server or of a game."""


class Address(Value):
    """A server; with a game, or a game and an invitation to it.

    >>> parse_address("http://127.0.0.1:8000/game/abc").server
    'http://127.0.0.1:8000'
    """

    scheme: str
    host: str
    port: int
    game: str | None = None
    invite: str | None = None

    @property
    def server(self) -> str:
        """The address without the game: the only place that secrets are sent to."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}{'' if self.port == _PORTS[self.scheme] else f':{self.port}'}"

    def at(self, game: str, invite: str | None = None) -> Address:
        """Return the address of a game on the same server."""
        return self.replace(game=game, invite=invite)

    def __str__(self) -> str:
        """Return the address without the invitation code, which is a secret."""
        return f"{self.server}{f'/game/{self.game}' if self.game else '/'}"


def parse_address(text: str) -> Address:
    """Read an address; errors never repeat an invitation code.

    >>> str(parse_address("HTTPS://noughts.example/lobby"))
    'https://noughts.example/'
    """
    written, _, fragment = text.partition("#")
    shown = quoted(written)
    if not text.isprintable() or " " in text:
        raise BadAddress(f"{shown} is not an address: it has characters that no address can have")
    try:
        parts = urlsplit(written)
        host = (parts.hostname or "").encode("idna").decode()
    except ValueError:  # UnicodeError is a ValueError
        raise BadAddress(f"{shown} is not an address: its host cannot be read") from None
    try:
        port = parts.port
    except ValueError:
        raise BadAddress(f"{shown} is not an address: a port is a number from 1 to 65535") from None
    if parts.scheme not in _PORTS or not host:
        raise BadAddress(f"{shown} is not an address: start with http:// or https:// and a host")
    if "@" in parts.netloc:
        raise BadAddress(f"{shown} has a user name: leave it out, servers have no accounts")
    if port == 0:
        raise BadAddress(f"{shown} is not an address: a port is a number from 1 to 65535")
    server = Address(parts.scheme, host, port or _PORTS[parts.scheme])
    game = _GAME.fullmatch(parts.path)
    if parts.query or not (game or _LOBBY.fullmatch(parts.path)):
        raise BadAddress(f"{shown} is not a game: use {server.server}/game/ID, or {server} for the list")
    if not fragment:
        return server.at(game[1]) if game else server
    if not game or not _INVITE.fullmatch(fragment):
        raise BadAddress(f"the part after # in {shown} is not an invitation code")
    return server.at(game[1], fragment)
