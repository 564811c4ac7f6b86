"""The public names of `import noughts`, and the cost of importing it."""

from __future__ import annotations

from types import FunctionType, ModuleType

import pytest

import noughts
from support.at_once import run_code
from support.public_names import PACKAGES, stub, stub_file


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_type_checkers_read_the_names_of_the_table(package: ModuleType) -> None:
    """`make names` writes the stubs."""
    assert stub_file(package).read_text() == stub(package)


def test_every_public_name_can_be_imported() -> None:
    for name in noughts.__all__:
        assert getattr(noughts, name) is not None
        assert name in dir(noughts)
    assert len(noughts.__all__) == len(set(noughts.__all__))


def test_every_public_name_says_what_it_is() -> None:
    for name in noughts.__all__:
        thing = getattr(noughts, name)
        if isinstance(thing, type | FunctionType | ModuleType):
            assert thing.__doc__, f"{name} has no docstring"


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match=r"^module 'noughts' has no attribute 'Checkers'$"):
        noughts.Checkers  # type: ignore[attr-defined]  # noqa: B018 - asking is the test


def test_importing_noughts_imports_nothing_else() -> None:
    """The command answers `--version` without the rules or a parser, and the rules load no bots.

    They don't load what only `help` needs either.
    """
    loaded = "[m for m in sys.modules if m.startswith(('noughts', 'argparse'))]"
    slow = "{'subprocess', 'fractions', 'inspect'} & {*sys.modules}"
    code = f"import noughts, sys; print({loaded}); noughts.Board; noughts.CreateGame; print({slow})"

    ran = run_code(code, check=True)

    assert ran.stdout == "['noughts']\nset()\n"


def test_a_plain_name_needs_no_table_of_all_characters() -> None:
    """The table of Unicode takes longer to load than the rules."""
    code = "import sys; from noughts import Player, X; {}; print('unicodedata' in sys.modules)"
    names = "Player('bob', X)", "Player('Zo\u00eb', X)"

    ran = [run_code(code.format(name), check=True) for name in names]

    assert [one.stdout.strip() for one in ran] == ["False", "True"]
