"""The files of the page: read and compressed once.

The files of one version have a folder of their own, named for their content:
`/static/VERSION/page.js`. They never change there, so browsers keep them, and a page never gets
files of two versions.
"""

from __future__ import annotations

import gzip
from functools import cache, lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import NamedTuple

from noughts.web.page_data import mistakes, page_data
from noughts.web.request import Header, Request, Response

CONTENT_TYPES = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "png": "image/png",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
    "webmanifest": "application/manifest+json",
}

PAGES = (
    *("/", "/play", "/play/{moves}", "/replay", "/replay/{moves}", "/games"),
    *("/friend", "/open", "/bots", "/lobby", "/game/{id}"),
)
"""The addresses at which the page is opened."""

PAGE, WORKER, ROBOTS = "index.html", "worker.js", "robots.txt"
UNVERSIONED = {PAGE, WORKER, ROBOTS}
"""Files at addresses that never change, which browsers ask for again each time."""

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

FILE_HEADERS: tuple[Header, ...] = (
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)


class File(NamedTuple):
    kind: str
    plain: bytes
    compressed: bytes
    tag: str


class Site(NamedTuple):
    """The files of this version, by name."""

    version: str
    files: dict[str, File]

    def response(self, name: str, request: Request, status: int = 200) -> Response:
        """Return a file, or 304 if the client has it."""
        file = self.files[name]
        if request.prefix and name == PAGE:
            file = _prefixed(file, request.prefix)
        is_kept = name not in UNVERSIONED
        headers = (
            *FILE_HEADERS,
            (b"etag", file.tag.encode()),
            (b"cache-control", b"public, max-age=31536000, immutable" if is_kept else b"no-cache"),
            (b"vary", b"accept-encoding"),
        )
        if status == 200 and file.tag in request.text(b"if-none-match"):
            return Response(304, b"", headers)
        headers = (*headers, (b"content-type", file.kind.encode()))
        if "gzip" in request.text(b"accept-encoding") and len(file.compressed) < len(file.plain):
            return Response(status, file.compressed, (*headers, (b"content-encoding", b"gzip")))
        return Response(status, file.plain, headers)


@cache
def load() -> Site:
    """Read the files, and generate the others."""
    found = {
        one.name: one.read_bytes()
        for one in (files("noughts.web") / "static").iterdir()
        if one.name.rpartition(".")[2] in CONTENT_TYPES
    }
    found |= {"data.json": page_data(), "mistakes.json": mistakes()}
    names = sorted(found)
    content = b"".join(sha256(name.encode() + b"\0" + found[name]).digest() for name in names)
    version = sha256(content).hexdigest()[:16]
    kept = " ".join(name for name in names if name not in UNVERSIONED)
    pages = " ".join(sorted({path.split("/")[1] for path in PAGES}))
    for name in (PAGE, WORKER):
        for key, value in (("VERSION", version), ("FILES", kept), ("PAGES", pages)):
            found[name] = found[name].replace(f"%{key}%".encode(), value.encode())
    return Site(version, {name: _file(name, content) for name, content in found.items()})


def _file(name: str, content: bytes) -> File:
    tag = f'"{sha256(content).hexdigest()[:16]}"'
    kind = CONTENT_TYPES[name.rpartition(".")[2]]
    return File(kind, content, gzip.compress(content, 9, mtime=0), tag)


@lru_cache(maxsize=8)
def _prefixed(file: File, prefix: str) -> File:
    """Return a page whose links begin with a prefix, which is quoted."""
    return _file(PAGE, file.plain.replace(b'="/', f'="{prefix}/'.encode()))
