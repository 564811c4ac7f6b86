"""The generated parts of the docs are up to date."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from support.deadlines import DEADLINE_SECONDS
from support.generated_docs import PAGES, PARTS, names, updated
from support.man_page import PAGE, man_page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_is_as_make_docs_writes_it(page: Path) -> None:
    """Run `make docs` if this fails."""
    assert page.read_text() == updated(page.read_text())


def test_every_part_is_on_a_page() -> None:
    assert sorted(name for page in PAGES for name in names(page.read_text())) == sorted(PARTS)


def test_the_man_page_is_as_make_docs_writes_it() -> None:
    """Run `make docs` if this fails."""
    assert PAGE.read_text() == man_page()


@pytest.mark.parametrize(
    "command", ["man --warnings -E UTF-8 -l", "groff -man -ww -Tutf8", "mandoc -W error"]
)
def test_the_man_page_can_be_read(command: str) -> None:
    program, *options = command.split()
    if not shutil.which(program):
        return  # not on this machine
    ran = subprocess.run(
        [program, *options, PAGE], capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=False
    )

    assert (ran.returncode, ran.stderr) == (0, "")
    assert "noughts play --o bot:club" in ran.stdout
