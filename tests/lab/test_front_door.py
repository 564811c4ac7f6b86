"""The public names of the lab, imported on first use."""

from __future__ import annotations

import subprocess
import sys

import pytest

from noughts import lab


@pytest.mark.parametrize("name", lab.__all__)
def test_every_public_name_can_be_imported(name: str) -> None:
    assert not isinstance(getattr(lab, name), type(sys))
    assert name in dir(lab)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"module 'noughts\.lab' has no attribute 'Abacus'"):
        lab.Abacus  # type: ignore[attr-defined]  # noqa: B018 - the access raises


def test_packages_are_imported_on_first_use() -> None:
    code = """
import sys
from noughts import lab
assert not {"numpy", "gymnasium", "pettingzoo", "matplotlib"} & {*sys.modules}
lab.Rules
assert not {"gymnasium", "pettingzoo", "matplotlib"} & {*sys.modules}
"""
    subprocess.run([sys.executable, "-c", code], check=True)
