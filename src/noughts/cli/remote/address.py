"""Where a game on a server is: the address that people pass on."""

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
    """Text that says neither where a server is, nor a game of one."""


class Address(Value):
    """A server, and perhaps a game of it, and perhaps an invitation to that.

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
        """The server alone: the only one that hears a secret of its seats."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}{'' if self.port == _PORTS[self.scheme] else f':{self.port}'}"

    def at(self, game: str, invite: str | None = None) -> Address:
        """Return the address of a game on the same server."""
        return self.replace(game=game, invite=invite)

    def __str__(self) -> str:
        """Write the address; the code of an invitation is left out, and passed on only on purpose."""
        return f"{self.server}{f'/game/{self.game}' if self.game else '/'}"


def parse_address(text: str) -> Address:
    """Read an address; what is wrong with it is said without the code of an invitation.

    >>> str(parse_address("HTTPS://noughts.example/lobby"))
    'https://noughts.example/'
    """
    written, _, fragment = text.partition("#")
    shown = quoted(written)
    if not text.isprintable() or " " in text:
        raise BadAddress(f"{shown} is no address: it has signs that no address has")
    try:
        parts = urlsplit(written)
        port = parts.port
        host = (parts.hostname or "").encode("idna").decode()
    except ValueError:  # a UnicodeError is one, too
        raise BadAddress(f"{shown} is no address") from None
    if parts.scheme not in _PORTS or not host:
        raise BadAddress(f"{shown} is no address: one begins with http:// or https:// and a host")
    if "@" in parts.netloc:
        raise BadAddress(f"{shown} names a user, and there are none: a seat is kept by itself")
    if port == 0:
        raise BadAddress(f"{shown} is no address: no server has port 0")
    server = Address(parts.scheme, host, port or _PORTS[parts.scheme])
    game = _GAME.fullmatch(parts.path)
    if parts.query or not (game or _LOBBY.fullmatch(parts.path)):
        raise BadAddress(f"{shown} is no game: say {server.server}/game/ID, or {server} for the list")
    if not fragment:
        return server.at(game[1]) if game else server
    if not game or not _INVITE.fullmatch(fragment):
        raise BadAddress(f"what stands after # in {shown} is no invitation")
    return server.at(game[1], fragment)
