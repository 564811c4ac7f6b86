"""Requests and responses, independent of the server."""

from __future__ import annotations

from functools import cache, lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import NamedTuple, TypeAlias, TypeVar
from urllib.parse import parse_qsl

import msgspec

from noughts.core.errors import quoted
from noughts.web.problems import MEDIA_TYPE, ApiError
from noughts.web.rooms import MAX_SECRET_BYTES

Header: TypeAlias = tuple[bytes, bytes]
Body = TypeVar("Body", bound=msgspec.Struct)
Proxies: TypeAlias = tuple[IPv4Network | IPv6Network, ...]

MAX_BODY_BYTES = 4096
MAX_QUERY_BYTES = 512

API_HEADERS: tuple[Header, ...] = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
"""Of every response that is not a file of the page."""

_JSON = b"application/json"
JSON_HEADERS: tuple[Header, ...] = ((b"content-type", _JSON), *API_HEADERS)
_PROBLEM_HEADERS: tuple[Header, ...] = ((b"content-type", MEDIA_TYPE.encode()), *API_HEADERS)


class Response(NamedTuple):
    """An answer; a server adds the date and the length."""

    status: int
    body: bytes
    headers: tuple[Header, ...] = JSON_HEADERS


def problem(error: ApiError) -> Response:
    """Return the response for a refusal."""
    return Response(error.status, error.body(), (*_PROBLEM_HEADERS, *error.headers))


@lru_cache(maxsize=4096)
def bare_address(address: str) -> str:
    """Return an address without a port, and an IPv4 address without IPv6 around it.

    >>> [*map(bare_address, ("::ffff:192.0.2.1", "192.0.2.1:5512", "[2001:DB8::1]:443"))]
    ['192.0.2.1', '192.0.2.1', '2001:db8::1']
    """
    address = address.strip()
    if address.startswith("["):
        address = address[1:].partition("]")[0]
    elif address.count(":") == 1:
        address = address.partition(":")[0]
    try:
        return str(getattr(found := ip_address(address.partition("%")[0]), "ipv4_mapped", None) or found)
    except ValueError:  # not an address: `*`, or nothing
        return address


@lru_cache(maxsize=4096)
def is_in(address: str, networks: Proxies) -> bool:
    """Return whether an address is in any of these networks.

    >>> from ipaddress import ip_network
    >>> is_in("10.1.2.3", (ip_network("10.0.0.0/8"),)), is_in("unknown", (ip_network("::/0"),))
    (True, False)
    """
    try:
        found = ip_address(address)
    except ValueError:
        return False
    return any(found in network for network in networks)


@cache
def _decoder(body: type[Body]) -> msgspec.json.Decoder[Body]:
    return msgspec.json.Decoder(body)


class Request(msgspec.Struct):
    """A complete request."""

    method: str
    path: str
    """The path under the prefix, decoded."""
    query: bytes
    headers: dict[bytes, bytes]
    """By names in lower case."""
    body: bytes
    peer: str
    """The address at the other end of the connection."""
    scheme: str = "http"
    prefix: str = ""
    """Where the application is mounted."""
    proxies: Proxies = ()
    """The networks of proxies that are trusted."""
    id: str = ""
    """The value of the route's parameter."""

    @property
    def address(self) -> str:
        """The client's address; behind a trusted proxy, the last in its header that is not a proxy."""
        peer = bare_address(self.peer)
        if not self._is_trusted(peer):
            return peer
        named = [bare_address(one) for one in self.text(b"x-forwarded-for").split(",") if one.strip()]
        others = (one for one in reversed(named) if self._is_everybody or not self._is_trusted(one))
        return next(others, peer)

    @property
    def origin_scheme(self) -> str:
        """The scheme that the browser used, as far as it is known."""
        if self._is_trusted(bare_address(self.peer)):
            forwarded = self.text(b"x-forwarded-proto").strip().lower()
            if forwarded in ("http", "https"):
                return forwarded
        return self.scheme

    @property
    def _is_everybody(self) -> bool:
        return any(not proxy.prefixlen for proxy in self.proxies)

    def _is_trusted(self, address: str) -> bool:
        return bool(self.proxies) and is_in(address, self.proxies)

    def text(self, name: bytes) -> str:
        return self.headers.get(name, b"").decode("latin-1")

    def secrets(self) -> tuple[str, ...]:
        """Return the secrets of seats that came with it."""
        found = []
        authorization, cookie = self.headers.get(b"authorization"), self.headers.get(b"cookie")
        if authorization and authorization[:7].lower() == b"bearer ":
            found.append(authorization[7:].strip())
        if cookie:
            pairs = [pair.strip().partition(b"=") for pair in cookie.split(b";")[:50]]
            found += [secret for name, _, secret in pairs if name in (b"X", b"O")]
        return tuple([one.decode("latin-1") for one in found[:4] if 0 < len(one) <= MAX_SECRET_BYTES])

    def check_origin(self, own: str) -> None:
        """Refuse a cross-site request from a browser."""
        origin = self.headers.get(b"origin")
        if origin is not None:
            expected = own or f"{self.origin_scheme}://{self.text(b'host')}"
            is_ours = origin.decode("latin-1").lower() == expected.lower()
        else:
            # A browser that doesn't send an origin sends this; a program sends neither.
            is_ours = self.headers.get(b"sec-fetch-site", b"none") in (b"none", b"same-origin")
        if not is_ours:
            raise ApiError("notAcceptedHere", "requests from pages of other sites are not accepted")

    def parameters(self, *known: str) -> dict[str, str]:
        """Read the query, which has only these parameters, each once."""
        if not self.query:
            return {}
        if len(self.query) > MAX_QUERY_BYTES:
            raise ApiError("badRequest", f"a query has {MAX_QUERY_BYTES} bytes at most")
        try:
            pairs = parse_qsl(self.query.decode("ascii"), keep_blank_values=True, strict_parsing=True)
        except ValueError:
            raise ApiError("badRequest", "the query is not NAME=VALUE") from None
        found: dict[str, str] = {}
        for name, value in pairs:
            if name not in known:
                allowed = " and ".join(known) or "nothing"
                raise ApiError("badRequest", f"the query takes {allowed}, not {quoted(name)}")
            if name in found:
                raise ApiError("badRequest", f"the query has {name} twice")
            found[name] = value
        return found

    def json(self, body: type[Body]) -> Body:
        """Read the body; a form of another site can't claim to be JSON."""
        kind = self.headers.get(b"content-type", b"")
        if kind != _JSON and kind.partition(b";")[0].strip().lower() != _JSON:
            raise ApiError("wrongType", "the body must be JSON, with Content-Type application/json")
        try:
            found: Body = _decoder(body).decode(self.body)
        except msgspec.ValidationError as error:
            words = str(error)
            if "$.cell" in words and "Invalid enum value" in words:
                raise ApiError("noSuchCell", "cells are numbered 0 to 8") from None
            raise ApiError("badRequest", f"the body is not valid: {words[:200]}") from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise ApiError("badRequest", "the body is not JSON") from None
        return found


def read_version(name: str, text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 9):
        raise ApiError("badRequest", f"{name} must be a number of at least 0, not {quoted(text)}")
    return int(text)
