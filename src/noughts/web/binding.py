"""The modules of the page, bound into one file: the page is there after few requests, and needs no tools.

A module that is bound becomes a function of its own, which gives back what it exports; so no name of one
meets a name of another. Modules that are seldom needed stay by themselves, and take what they import
from the bound file. Written down, each module is as it would be without all this.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_IMPORT = re.compile(r'^import (?:(?:\{([^}]*)\}|\* as (\w+)) from )?"\./(\w+)\.js";\n', re.MULTILINE)
_LATE = re.compile(r'\bimport\("\./(\w+)\.js"\)')
_EXPORT = re.compile(r"^export ((?:async )?function\*?|class|const) (\w+)", re.MULTILINE)


def bind(modules: Mapping[str, str], entries: Iterable[str], bound: str) -> dict[str, str]:
    r"""Return the modules as they are sent, with those that the entries need in the one called `bound`.

    >>> modules = {"a": 'import { b } from "./b.js";\nb();\n', "b": "export const b = 1;\n"}
    >>> print(bind(modules, ["a"], "all")["all"])
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
        _put_in_order(modules, entry, order, ())
    within = set(order)
    pieces = [_bound(name, modules[name], within) for name in order]
    names = ", ".join(f"${name}" for name in order)
    sent = {bound: "".join([*pieces, f"export {{ {names} }};\n"])}
    return sent | {
        name: text if name in within else _apart(text, within, bound) for name, text in modules.items()
    }


def _put_in_order(
    modules: Mapping[str, str], name: str, order: list[str], on_the_way: tuple[str, ...]
) -> None:
    """Put a module behind all that it needs."""
    if name in on_the_way:
        raise ValueError(f"modules import each other: {' → '.join((*on_the_way, name))}")
    if name in order:
        return
    for found in _IMPORT.finditer(modules[name]):
        _put_in_order(modules, found[3], order, (*on_the_way, name))
    order.append(name)


def _bound(name: str, text: str, within: set[str]) -> str:
    exported = [found[2] for found in _EXPORT.finditer(text)]
    text = _IMPORT.sub(_taking, text)
    text = _LATE.sub(
        lambda found: f"Promise.resolve(${found[1]})" if found[1] in within else found[0], text
    )
    text = _EXPORT.sub(r"\1 \2", text)
    if strange := re.search(r"^(import|export)\b.*", text, re.MULTILINE):
        raise ValueError(f"{name}.js cannot be bound for its line {strange[0]!r}")
    return f"const ${name} = (() => {{\n{text}return {{ {', '.join(exported)} }};\n}})();\n"


def _taking(found: re.Match[str]) -> str:
    """Return an import as a bound module has it."""
    names, whole, name = found.groups()
    if names is not None:
        return f"const {{{names.replace(' as ', ': ')}}} = ${name};\n"
    return f"const {whole} = ${name};\n" if whole else ""


def _apart(text: str, within: set[str], bound: str) -> str:
    """Return a module that stays by itself, and takes what is bound from there."""

    def take(found: re.Match[str]) -> str:
        if found[3] not in within:
            return found[0]
        return f'import {{ ${found[3]} }} from "./{bound}.js";\n{_taking(found)}'

    def take_late(found: re.Match[str]) -> str:
        if found[1] not in within:
            return found[0]
        return f'import("./{bound}.js").then((all) => all.${found[1]})'

    return _LATE.sub(take_late, _IMPORT.sub(take, text))
