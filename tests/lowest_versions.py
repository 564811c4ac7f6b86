"""Prints the lowest version of every dependency that pyproject.toml allows, as pip requirements.

`make lowest` runs it.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parent.parent / "pyproject.toml"

_REQUIREMENT = re.compile(
    r"(?P<name>[\w.-]+ (\[[\w,]+\])?) \s* [>~]= \s* (?P<version>[\d.]+) \s* (?P<marker>;.*)?", re.VERBOSE
)


def lowest_versions(project: Path = PROJECT) -> list[str]:
    """Return `name==version` for each requirement of the build and of every extra."""
    data = tomllib.loads(project.read_text())
    extras = data["project"]["optional-dependencies"].values()
    groups = [data["build-system"]["requires"], data["project"]["dependencies"], *extras]
    return [_pinned(requirement) for group in groups for requirement in group]


def _pinned(requirement: str) -> str:
    """Turn a lower bound into a pin.

    >>> _pinned("psycopg[binary]>=3.2.2"), _pinned("uvloop~=0.54.0")
    ('psycopg[binary]==3.2.2', 'uvloop==0.54.0')
    """
    found = _REQUIREMENT.fullmatch(requirement)
    if not found:
        raise ValueError(f"{requirement!r} has no lower bound, such as >=1.2")
    return f"{found['name']}=={found['version']}{found['marker'] or ''}"


if __name__ == "__main__":
    sys.stdout.writelines(f"{pin}\n" for pin in lowest_versions())
