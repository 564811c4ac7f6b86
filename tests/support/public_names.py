"""Writes the type stubs of the public names of noughts and its lab (`make names`)."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import noughts
from noughts import lab

PACKAGES = noughts, lab


def stub(package: ModuleType) -> str:
    """Return the stub, which imports every public name from its module."""
    table: dict[str, str] = vars(package)["PUBLIC"]
    imports = [
        f"from {f'{package.__name__}.{module}'.rstrip('.')} import {', '.join(names.split())}"
        for module, names in table.items()
    ]
    version = ["__version__: str"] if package is noughts else []
    names = [f'    "{name}",' for name in package.__all__]
    head = "# Written by `make names` from the table in __init__.py."
    return "\n".join([head, *imports, "", *version, "__all__ = [", *names, "]", ""])


def stub_file(package: ModuleType) -> Path:
    return Path(str(package.__file__)).with_suffix(".pyi")


if __name__ == "__main__":
    for package in PACKAGES:
        stub_file(package).write_text(stub(package))
