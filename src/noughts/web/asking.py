"""Who asks, and for what: a request, read once, with its limits."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

import msgspec

from noughts.core.errors import quoted
from noughts.web.problems import Refused
from noughts.web.secrets import LONGEST

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, MutableMapping
    from typing import Any, TypeAlias, TypeVar

    Scope: TypeAlias = Mapping[str, Any]
    Message: TypeAlias = MutableMapping[str, Any]
    Receive: TypeAlias = Callable[[], Awaitable[Message]]
    Send: TypeAlias = Callable[[Message], Awaitable[None]]

    Body = TypeVar("Body", bound=msgspec.Struct)

LARGEST_BODY = 4096
LONGEST_QUERY = 512
PATIENCE = 10.0
"""How long a body may take to come, in seconds."""

_WANTED = frozenset(
    b"authorization content-length content-type cookie host last-event-id origin sec-fetch-site"
    b" x-forwarded-for x-forwarded-proto".split()
)
JSON = b"application/json"
_NOT_JSON = "the body is JSON, and its Content-Type is application/json"


def bare(address: str) -> str:
    """Return an address alone: without a port, and an older one without the newer one around it.

    >>> bare("::ffff:192.0.2.1"), bare("192.0.2.1:5512"), bare("[2001:db8::1]:443")
    ('192.0.2.1', '192.0.2.1', '2001:db8::1')
    """
    address = address.strip()
    if address.startswith("["):
        address = address[1:].partition("]")[0]
    elif address.count(":") == 1:
        address = address.partition(":")[0]
    return address[7:] if address.startswith("::ffff:") and "." in address else address


class Asking:
    """A request: the headers that count, and the address it came from."""

    __slots__ = ("_proxies", "headers", "receive", "scope")

    def __init__(self, scope: Scope, receive: Receive, proxies: frozenset[str] = frozenset()) -> None:
        self.scope = scope
        self.receive = receive
        self._proxies = proxies
        self.headers: dict[bytes, bytes] = {
            name: value for name, value in scope["headers"] if name in _WANTED
        }

    @property
    def address(self) -> str:
        """Where the request came from, as far as it is known.

        A proxy that may be believed says for whom it asks: the last that it names itself counts.
        """
        peer = self._peer
        if not self._is_proxy(peer):
            return peer
        named = [bare(one) for one in self._text(b"x-forwarded-for").split(",") if one.strip()]
        return next((one for one in reversed(named) if one not in self._proxies), peer)

    @property
    def _peer(self) -> str:
        """The other end of the line."""
        client = self.scope.get("client")
        return bare(client[0]) if client else ""

    @property
    def path(self) -> Mapping[str, str]:
        """The parts of the path that have names."""
        found: Mapping[str, str] = self.scope.get("path_params", {})
        return found

    @property
    def is_secure(self) -> bool:
        """Whether nobody on the way can read it."""
        return self.scheme == "https"

    @property
    def scheme(self) -> str:
        """How the browser has asked, as far as it is known."""
        if self._is_proxy(self._peer):
            said = self._text(b"x-forwarded-proto").strip().lower()
            if said in ("http", "https"):
                return said
        return str(self.scope.get("scheme") or "http")

    def _is_proxy(self, address: str) -> bool:
        return bool(self._proxies) and (address in self._proxies or "*" in self._proxies)

    def _text(self, name: bytes) -> str:
        return self.headers.get(name, b"").decode("latin-1")

    def secrets(self) -> tuple[str, ...]:
        """Return the secrets that came with the request, if any."""
        found = []
        authorization = self.headers.get(b"authorization")
        if authorization is not None and authorization[:7].lower() == b"bearer ":
            found.append(authorization[7:].strip())
        cookie = self.headers.get(b"cookie")
        if cookie is not None:
            for pair in cookie.split(b";")[:50]:
                name, _, secret = pair.strip().partition(b"=")
                if name in (b"X", b"O"):
                    found.append(secret)
        return tuple(secret.decode("latin-1") for secret in found[:4] if 0 < len(secret) <= LONGEST)

    def check_origin(self, own: str) -> None:
        """Refuse what another site has made somebody's browser ask for."""
        origin = self.headers.get(b"origin")
        if origin is not None:
            host = self.headers.get(b"host", b"").decode("latin-1")
            expected = own or f"{self.scheme}://{host}"
            is_ours = origin.decode("latin-1").lower() == expected.lower()
        else:
            # A browser that says nothing of the origin says this; a program says neither.
            is_ours = self.headers.get(b"sec-fetch-site", b"none") in (b"none", b"same-origin")
        if not is_ours:
            raise Refused("notAcceptedHere", "a page of another site cannot act here for its reader")

    def query(self, *known: str) -> dict[str, str]:
        """Return what the query says, of these things and no others."""
        text = self.scope["query_string"]
        if not text:
            return {}
        if len(text) > LONGEST_QUERY:
            raise Refused("badRequest", f"a query has {LONGEST_QUERY} bytes at most")
        found: dict[str, str] = {}
        try:
            pairs = parse_qsl(text.decode("ascii"), keep_blank_values=True, strict_parsing=True)
        except ValueError:
            raise Refused("badRequest", "the query cannot be read: it is like NAME=VALUE") from None
        for name, value in pairs:
            if name not in known:
                allowed = " and ".join(known) or "nothing"
                raise Refused("badRequest", f"the query has {allowed}, and no {quoted(name)}")
            if name in found:
                raise Refused("badRequest", f"the query says {name} twice")
            found[name] = value
        return found

    def number(self, name: str, text: str) -> int:
        """Read a version."""
        if not (text.isascii() and text.isdecimal() and len(text) <= 9):
            raise Refused("badRequest", f"{name} is a number from 0 on, not {quoted(text)}")
        return int(text)

    def check_json(self) -> None:
        """Refuse a body that is not said to be JSON: a form of another site's cannot say so."""
        kind = self.headers.get(b"content-type", b"")
        if kind != JSON and kind.partition(b";")[0].strip().lower() != JSON:
            raise Refused("wrongType", _NOT_JSON)

    async def body(self, decoder: msgspec.json.Decoder[Body]) -> Body:
        """Read the body as what it has to be."""
        self.check_json()
        try:
            return decoder.decode(await self._bytes())
        except msgspec.ValidationError as error:
            raise _misfit(str(error)) from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise Refused("badRequest", "the body is not JSON") from None

    async def _bytes(self) -> bytes:
        length = self.headers.get(b"content-length", b"0")
        if not length.isdigit() or len(length) > 9 or int(length) > LARGEST_BODY:
            raise Refused("tooLarge", f"a body has {LARGEST_BODY} bytes at most")
        try:
            async with asyncio.timeout(PATIENCE):
                return await self._whole()
        except TimeoutError:
            raise Refused("timeout", f"the body did not come within {PATIENCE:.0f} s") from None

    async def _whole(self) -> bytes:
        body, more = b"", True
        while more:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise Refused("badRequest", "the line was cut before the whole body had come")
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > LARGEST_BODY:
                raise Refused("tooLarge", f"a body has {LARGEST_BODY} bytes at most")
        return body


def _misfit(words: str) -> Refused:
    """Say what is wrong with a body that is JSON, and not what is asked for."""
    if "$.cell" in words and "Invalid enum value" in words:
        return Refused("noSuchCell", "there is no such cell: cells are 0 to 8")
    return Refused("badRequest", f"the body cannot be taken: {words[:200]}")
