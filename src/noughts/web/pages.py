"""The page and what it is made of: read once, pressed once, and sent as it is."""

from __future__ import annotations

import gzip
from hashlib import sha256
from importlib.resources import files
from typing import NamedTuple

from noughts.web.binding import bind

PAGE, BOUND = "page", ("setup", "join", "invite", "table", "app")
"""The module that the page loads, and those that are bound in it, with all that they need."""

KINDS = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
}

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
]


class File(NamedTuple):
    """A file of the page."""

    kind: str
    plain: bytes
    pressed: bytes
    tag: str


def load() -> dict[str, File]:
    """Read all files of the page, by their names, and bind the modules that every game needs."""
    found = {
        one.name: one.read_bytes()
        for one in (files("noughts.web") / "static").iterdir()
        if _ending(one.name) in KINDS
    }
    modules = {
        name.removesuffix(".js"): content.decode()
        for name, content in found.items()
        if name.endswith(".js")
    }
    for name, text in bind(modules, BOUND, PAGE).items():
        found[f"{name}.js"] = text.encode()
    return {name: _file(KINDS[_ending(name)], content) for name, content in found.items()}


def _ending(name: str) -> str:
    return "." + name.rpartition(".")[2]


def _file(kind: str, content: bytes) -> File:
    tag = f'"{sha256(content).hexdigest()[:16]}"'
    return File(kind, content, gzip.compress(content, 9, mtime=0), tag)


def answer(
    file: File, *, accepts: str, known: str | None
) -> tuple[int, bytes, list[tuple[bytes, bytes]]]:
    """Return a file as it is sent to somebody who knows the version with the tag `known`."""
    headers = [
        *HEADERS,
        (b"etag", file.tag.encode()),
        (b"cache-control", b"no-cache"),
        (b"vary", b"accept-encoding"),
    ]
    if known is not None and file.tag in known:
        return 304, b"", headers
    headers.append((b"content-type", file.kind.encode()))
    if "gzip" in accepts and len(file.pressed) < len(file.plain):
        return 200, file.pressed, [*headers, (b"content-encoding", b"gzip")]
    return 200, file.plain, headers
