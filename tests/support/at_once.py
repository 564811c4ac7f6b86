"""Runs several things at the same time."""

from __future__ import annotations

from threading import Barrier, Thread
from typing import TYPE_CHECKING

from noughts import NoughtsError

if TYPE_CHECKING:
    from collections.abc import Callable

DEADLINE = 120
"""How long a test may take, in seconds, before it counts as hanging."""


def in_threads(*works: Callable[[], object]) -> list[object]:
    """Run all of them at the same time, and return what each returned, or its refusal."""
    start = Barrier(len(works))
    outcomes: list[object] = [None] * len(works)
    failures: list[BaseException] = []

    def do(number: int, work: Callable[[], object]) -> None:
        start.wait()
        try:
            outcomes[number] = work()
        except NoughtsError as refusal:
            outcomes[number] = refusal
        except BaseException as failure:  # noqa: BLE001 - raised below
            failures.append(failure)

    threads = [Thread(target=do, args=pair, daemon=True) for pair in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE)
        assert not thread.is_alive(), "it hangs"
    if failures:
        raise failures[0]
    return outcomes
