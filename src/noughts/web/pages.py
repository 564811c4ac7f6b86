"""The page and what it is made of: read once, pressed once, and sent as it is."""

from __future__ import annotations

import gzip
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

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
    """Read all files of the page, by their names."""
    return dict(_load(files("noughts.web") / "static", ""))


def _load(folder: Traversable, before: str) -> list[tuple[str, File]]:
    found = []
    for one in folder.iterdir():
        ending = "." + one.name.rpartition(".")[2]
        if one.is_dir():
            found += _load(one, f"{before}{one.name}/")
        elif ending in KINDS:
            content = one.read_bytes()
            tag = f'"{sha256(content).hexdigest()[:16]}"'
            pressed = gzip.compress(content, 9, mtime=0)
            found.append((before + one.name, File(KINDS[ending], content, pressed, tag)))
    return found


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
