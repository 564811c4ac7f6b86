"""Writes the type stub of the public names of noughts (`make names`)."""

from __future__ import annotations

import sys

import noughts


def stub() -> str:
    """Return the stub, which imports every public name from its module."""
    table: dict[str, str] = vars(noughts)["PUBLIC"]
    imports = [
        f"from {f'noughts.{module}'.rstrip('.')} import {', '.join(names.split())}"
        for module, names in table.items()
    ]
    names = [f'    "{name}",' for name in noughts.__all__]
    head = "# Written by `make names` from the table in __init__.py."
    return "\n".join([head, *imports, "", "__version__: str", "__all__ = [", *names, "]", ""])


if __name__ == "__main__":
    sys.stdout.write(stub())
