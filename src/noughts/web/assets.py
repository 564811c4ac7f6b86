"""The files of the page: read and compressed once.

The modules of every game are bundled into one file, so that the page needs few requests and no tools. A
bundled module becomes a function that returns what it exports; modules that are rarely needed stay
separate, and take what they import from the bundle.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import NamedTuple

from noughts.web.problems import ApiError
from noughts.web.request import Header, Request, Response

BUNDLE, BUNDLED_MODULES = "page", ("setup", "join", "invite", "table", "app")
"""The module that the page loads, and those that are bundled in it, with all that they import."""

CONTENT_TYPES = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
}

CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
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


@cache
def load() -> dict[str, File]:
    """Read all files of the page by name, and bundle the modules of every game."""
    found = {
        one.name: one.read_bytes()
        for one in (files("noughts.web") / "static").iterdir()
        if one.name.rpartition(".")[2] in CONTENT_TYPES
    }
    modules = {name[:-3]: content.decode() for name, content in found.items() if name.endswith(".js")}
    for name, text in bundle(modules, BUNDLED_MODULES, BUNDLE).items():
        found[f"{name}.js"] = text.encode()
    return {
        name: _file(CONTENT_TYPES[name.rpartition(".")[2]], content) for name, content in found.items()
    }


def _file(kind: str, content: bytes) -> File:
    tag = f'"{sha256(content).hexdigest()[:16]}"'
    return File(kind, content, gzip.compress(content, 9, mtime=0), tag)


def respond(name: str, request: Request) -> Response:
    """Return a file, or 304 if the client has it."""
    file = load().get(name)
    if file is None:
        raise ApiError("notFound", "nothing is at that address")
    if request.prefix and name.endswith(".html"):
        file = _prefixed(file, request.prefix)
    headers = (
        *FILE_HEADERS,
        (b"etag", file.tag.encode()),
        (b"cache-control", b"no-cache"),
        (b"vary", b"accept-encoding"),
    )
    if file.tag in request.text(b"if-none-match"):
        return Response(304, b"", headers)
    headers = (*headers, (b"content-type", file.kind.encode()))
    if "gzip" in request.text(b"accept-encoding") and len(file.compressed) < len(file.plain):
        return Response(200, file.compressed, (*headers, (b"content-encoding", b"gzip")))
    return Response(200, file.plain, headers)


@lru_cache(maxsize=8)
def _prefixed(file: File, prefix: str) -> File:
    """Return a page whose links begin with a prefix, which is quoted."""
    return _file(file.kind, file.plain.replace(b'="/', f'="{prefix}/'.encode()))


_IMPORT = re.compile(r'^import (?:(?:\{([^}]*)\}|\* as (\w+)) from )?"\./(\w+)\.js";\n', re.MULTILINE)
_DYNAMIC_IMPORT = re.compile(r'\bimport\("\./(\w+)\.js"\)')
_EXPORT = re.compile(r"^export ((?:async )?function\*?|class|const) (\w+)", re.MULTILINE)


def bundle(modules: Mapping[str, str], entries: Iterable[str], bundle_name: str) -> dict[str, str]:
    r"""Return the modules as they are sent; `bundle_name` has those that the entries need.

    >>> modules = {"a": 'import { b } from "./b.js";\nb();\n', "b": "export const b = 1;\n"}
    >>> print(bundle(modules, ["a"], "all")["all"])
    const $b = (() => {
    const b = 1;
    return { b };
    })();
    const $a = (() => {
    const { b } = $b;
    b();
    return {  };
    })();
    export { $b, $a };
    <BLANKLINE>
    """
    order: list[str] = []
    for entry in entries:
        _sort(modules, entry, order, ())
    within = set(order)
    pieces = [_bundled(name, modules[name], within) for name in order]
    names = ", ".join(f"${name}" for name in order)
    sent = {bundle_name: "".join([*pieces, f"export {{ {names} }};\n"])}
    return sent | {
        name: text if name in within else _separate(text, within, bundle_name)
        for name, text in modules.items()
    }


def _sort(modules: Mapping[str, str], name: str, order: list[str], path: tuple[str, ...]) -> None:
    """Append a module to `order`, after all that it imports."""
    if name in path:
        raise ValueError(f"modules import each other: {' → '.join((*path, name))}")
    if name in order:
        return
    for found in _IMPORT.finditer(modules[name]):
        _sort(modules, found[3], order, (*path, name))
    order.append(name)


def _bundled(name: str, text: str, within: set[str]) -> str:
    exported = [found[2] for found in _EXPORT.finditer(text)]
    text = _IMPORT.sub(_assignment, text)
    text = _DYNAMIC_IMPORT.sub(
        lambda found: f"Promise.resolve(${found[1]})" if found[1] in within else found[0], text
    )
    text = _EXPORT.sub(r"\1 \2", text)
    if unknown := re.search(r"^(import|export)\b.*", text, re.MULTILINE):
        raise ValueError(f"{name}.js cannot be bundled because of its line {unknown[0]!r}")
    return f"const ${name} = (() => {{\n{text}return {{ {', '.join(exported)} }};\n}})();\n"


def _assignment(found: re.Match[str]) -> str:
    """Return an import as a bundled module has it."""
    names, whole, name = found.groups()
    if names is not None:
        return f"const {{{names.replace(' as ', ': ')}}} = ${name};\n"
    return f"const {whole} = ${name};\n" if whole else ""


def _separate(text: str, within: set[str], bundle_name: str) -> str:
    """Return a module that stays separate, and imports bundled modules from the bundle."""

    def replace(found: re.Match[str]) -> str:
        if found[3] not in within:
            return found[0]
        return f'import {{ ${found[3]} }} from "./{bundle_name}.js";\n{_assignment(found)}'

    def replace_dynamic(found: re.Match[str]) -> str:
        if found[1] not in within:
            return found[0]
        return f'import("./{bundle_name}.js").then((all) => all.${found[1]})'

    return _DYNAMIC_IMPORT.sub(replace_dynamic, _IMPORT.sub(replace, text))
