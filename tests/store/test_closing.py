"""A store that is closed while others use it."""

from __future__ import annotations

import subprocess
import sys
from threading import Event, Thread
from typing import TYPE_CHECKING

import pytest

from at_once import DEADLINE
from noughts import CreateGame, Service, open_store
from noughts.core.errors import StoreUnavailable
from noughts.store.verifying import verify

if TYPE_CHECKING:
    from noughts import EventStore


def test_nothing_can_be_asked_of_a_closed_store(store: EventStore) -> None:
    """It says that it is closed; closing it again changes nothing."""
    watch = store.watch()
    store.close()
    store.close()

    for ask in (
        lambda: Service(store).handle("game", CreateGame()),
        lambda: store.read("game"),
        store.feed,
        store.games,
        store.watch,
        watch.wait,
    ):
        with pytest.raises(StoreUnavailable, match="the store is closed"):
            ask()


def test_closing_waits_for_what_is_under_way(url: str) -> None:
    """Whoever was answered is stored, everybody else is refused, and nothing crashes."""
    store = open_store(url)
    answered: list[str] = []
    many = Event()

    def write(writer: int) -> None:
        for number in range(100_000):
            game = f"game-{writer}-{number}"
            try:
                Service(store).handle(game, CreateGame())
                store.read(game)
            except StoreUnavailable:
                return
            answered.append(game)
            if len(answered) > 50:
                many.set()

    threads = [Thread(target=write, args=(writer,), daemon=True) for writer in range(6)]
    for thread in threads:
        thread.start()
    assert many.wait(DEADLINE)
    store.close()
    for thread in threads:
        thread.join(DEADLINE)
        assert not thread.is_alive()

    with open_store(url) as again:
        verify(again)
        assert all(len(again.read(game)) == 3 for game in answered)


# Ctrl-C comes at each place of a commit in memory where it can be heard; what is done later must go on.
INTERRUPTED = """
import dis, sys
from noughts import CreateGame, Service, open_store
from noughts.core.errors import NoughtsError
from noughts.store import memory
from noughts.store.verifying import verify

HEARING = ("RESUME", "CALL", "JUMP_BACKWARD")

def interrupt(step):
    left, last = step, {}
    def trace(frame, event, _):
        nonlocal left
        if frame.f_code.co_filename != memory.__file__ or frame.f_code.co_name == "_start_again":
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            heard = last.get(id(frame), "").startswith(HEARING)
            last[id(frame)] = dis.opname[frame.f_code.co_code[frame.f_lasti]]
            left -= heard
            if heard and left == 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace
    sys.settrace(trace)
    return lambda: left

step, broken = 0, []
while True:
    step += 1
    store = open_store("memory:")
    service = Service(store)
    service.handle("before", CreateGame())
    left = interrupt(step)
    try:
        service.handle("game", CreateGame())
    except KeyboardInterrupt:
        pass
    sys.settrace(None)
    try:
        service.handle("after", CreateGame())
        verify(store)
        if len(store.read("game")) not in (0, 3):
            broken.append(step)
    except NoughtsError:
        broken.append(step)
    if left() > 0:
        break
print(step > 5, broken)
"""


def test_an_interrupted_commit_in_memory_is_whole_or_not_at_all() -> None:
    """Wherever Ctrl-C comes, the store is sound and can be written."""
    ran = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=DEADLINE, check=False
    )

    assert ran.stdout == "True []\n", ran.stderr
