"""What the objects of the library look like at a Python prompt."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

import noughts
from noughts import Bot, Menace, O, Program, Service, Training, events, open_store
from support.hostile_bots import POLITE, program

CLASSES = [name for name in noughts.__all__ if inspect.isclass(getattr(noughts, name))]
MADE = [
    kind
    for kind in (*(getattr(noughts, name) for name in CLASSES), *events.Event.__args__)
    if not issubclass(kind, int | Exception)
]


@pytest.mark.parametrize("name", CLASSES)
def test_no_public_class_shows_only_where_it_is_in_memory(name: str) -> None:
    assert getattr(noughts, name).__repr__ is not object.__repr__


@pytest.mark.parametrize("kind", MADE, ids=lambda kind: kind.__name__)
def test_every_public_class_says_what_it_takes(kind: type) -> None:
    """To `inspect.signature` and `help`, also if its `__init__` is that of all values."""
    taken = inspect.signature(kind).parameters.values()

    assert not [str(one) for one in taken if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]


def test_bots_show_what_they_play() -> None:
    machine = Menace()
    machine.learn((0, 4, 1, 5, 2), noughts.X)
    command = program(POLITE).removeprefix("program:")

    assert repr(Bot("club")) == "Bot('club')"
    assert repr(Bot(machine)) == "Bot(<Menace after 1 game>)"
    assert repr(Training(machine, "random", mark=O)) == (
        "<Training of <Menace after 1 game> as O against Bot('random')>"
    )
    with Program(command) as started:
        assert repr(started) == f"Program({command!r})"


def test_a_store_shows_where_it_is(tmp_path: Path) -> None:
    path = str(tmp_path / "games.sqlite")
    with open_store(f"sqlite:{path}") as store:
        assert repr(Service(store)) == f"Service(SQLiteStore({path!r}))"
    with open_store("memory:") as store:
        assert repr(store) == "<MemoryStore>"
