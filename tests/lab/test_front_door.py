"""The names that the lab offers, and that nobody pays for what is not used."""

from __future__ import annotations

import subprocess
import sys

import pytest

from noughts import lab

NAMES: list[str] = getattr(lab, "__all__")  # noqa: B009 - only at run time


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_there(name: str) -> None:
    """And is the thing itself, not the file that it stands in."""
    assert not isinstance(getattr(lab, name), type(sys))


def test_every_name_is_told_by_dir() -> None:
    """So that whoever looks around finds it."""
    assert {*NAMES} <= {*dir(lab)}


def test_what_is_not_there_is_refused() -> None:
    """As any module does."""
    with pytest.raises(AttributeError, match=r"module 'noughts\.lab' has no attribute 'Abacus'"):
        lab.Abacus  # type: ignore[attr-defined]  # noqa: B018 - it is looked for


def test_nothing_is_imported_before_it_is_asked_for() -> None:
    """Neither NumPy nor Gymnasium; and arrays need no Gymnasium."""
    code = """
import sys
from noughts import lab
assert not {"numpy", "gymnasium", "pettingzoo", "matplotlib"} & {*sys.modules}
lab.Rules
assert not {"gymnasium", "pettingzoo", "matplotlib"} & {*sys.modules}
"""
    subprocess.run([sys.executable, "-c", code], check=True)
