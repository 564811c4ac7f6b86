"""The generated parts of the docs are up to date."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.generated_docs import PAGES, PARTS, names, updated


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_is_as_make_docs_writes_it(page: Path) -> None:
    """Run `make docs` if this fails."""
    assert page.read_text() == updated(page.read_text())


def test_every_part_is_on_a_page() -> None:
    assert sorted(name for page in PAGES for name in names(page.read_text())) == sorted(PARTS)
