"""Watching what others write: in this process, and in others."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import groupby
from threading import Thread
from typing import TYPE_CHECKING

import pytest

from at_once import DEADLINE, in_threads
from noughts.store import postgres
from noughts.store.opening import open_store
from noughts.store.watching import Bell, Watch
from played import DRAW, check_whole, feed_of, game_of, play

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from noughts.store.base import EventStore
    from noughts.store.chain import Recorded

LENGTH = sum(map(len, game_of(DRAW)))
"""How many events each of the games here has."""

# Another process, that waits for a word and then plays games with as many threads as it has games.
WRITER = f"""
import sys
from threading import Thread
sys.path[:0] = {sys.path!r}
from noughts.store.opening import open_store
from played import DRAW, game_of, play

url, *games = sys.argv[1:]
with open_store(url) as store:
    print("ready", flush=True)
    sys.stdin.readline()
    threads = [Thread(target=play, args=(store, game, game_of(DRAW))) for game in games]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
print("done", flush=True)
"""


@contextmanager
def writer(url: str, *games: str) -> Iterator[subprocess.Popen[str]]:
    """Start a process that plays those games when it is told to."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, url, *games],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        try:
            yield process
        finally:
            said, _ = process.communicate("go\n", timeout=DEADLINE)
            assert said == "done\n"


def begin(process: subprocess.Popen[str]) -> None:
    """Tell a writer to write."""
    assert process.stdin
    process.stdin.write("go\n")
    process.stdin.flush()


def follow(watch: Watch, wanted: int) -> tuple[Recorded, ...]:
    """Return so many events, as they come; without end, if nobody rings the bell."""
    seen: list[Recorded] = []
    while len(seen) < wanted:
        seen += watch.wait()
    assert watch.wait(0) == ()
    return tuple(seen)


@pytest.fixture
def _never_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave it to the bell alone to wake those who watch, where there is a bell between processes."""
    monkeypatch.setattr(postgres, "GLANCE", 1_000_000)


@pytest.mark.usefixtures("_never_look")
def test_what_another_process_writes_is_seen(url: str, open_again: Callable[[], EventStore]) -> None:
    """By who watches the game, by who watches another one, and by who watches all."""
    store = open_again()
    play(store, "before", game_of("5"))
    before = len(store.feed())
    with (
        writer(url, "game") as process,
        store.watch("game") as one,
        store.watch("before") as other,
        store.watch() as everything,
    ):
        assert len(other.wait(DEADLINE)) == before
        _, *outcomes = in_threads(
            partial(begin, process),
            partial(follow, one, LENGTH),
            partial(follow, everything, before + LENGTH),
        )
        assert outcomes == [store.read("game"), store.feed()]
        assert other.wait(0) == ()


@pytest.mark.usefixtures("_never_look")
def test_nothing_is_missed_and_nothing_told_twice_while_two_processes_write(
    url: str, open_again: Callable[[], EventStore]
) -> None:
    """Two processes with four threads each, and this one writes and watches too."""
    store = open_again()
    theirs = [[f"w{process}-{game}" for game in range(4)] for process in range(2)]
    total = 9 * LENGTH
    with ExitStack() as stack:
        processes = [stack.enter_context(writer(url, *games)) for games in theirs]
        everything, later = (stack.enter_context(store.watch()) for _ in range(2))
        watches = [stack.enter_context(store.watch(game)) for games in theirs for game in games]
        for process in processes:
            begin(process)
        outcomes = in_threads(
            partial(play, store, "mine", game_of(DRAW)),
            partial(follow, everything, total),
            *(partial(follow, watch, LENGTH) for watch in watches),
        )
        assert follow(later, total) == outcomes[1]

    seen = outcomes[1]
    assert isinstance(seen, tuple)
    assert list(seen) == feed_of(store)
    check_whole(seen)
    assert outcomes[2:] == [store.read(game) for games in theirs for game in games]


def test_the_feed_grows_at_its_end_only(open_again: Callable[[], EventStore]) -> None:
    """Whoever reads page after page while two stores write with eight threads each misses nothing.

    An event that became visible before one with a lower position would be a gap for a moment.
    """
    one, other, reader = open_again(), open_again(), open_again()
    names = [f"g{number}" for number in range(16)]
    total = len(names) * LENGTH

    def read_on() -> tuple[Recorded, ...]:
        seen: list[Recorded] = []
        with reader.watch():  # so that it is not only this thread that asks
            while len(seen) < total:
                page = reader.feed(len(seen), 50)
                assert [record.position for record in page] == list(
                    range(len(seen) + 1, len(seen) + 1 + len(page))
                )
                seen += page
        return tuple(seen)

    writers = [
        partial(play, store, name, game_of(DRAW))
        for name, store in zip(names, [one, other] * 8, strict=True)
    ]
    outcomes = in_threads(read_on, *writers)

    assert outcomes[1:] == [LENGTH] * len(names)
    assert outcomes[0] == tuple(feed_of(one))
    check_whole(feed_of(other))


def test_two_stores_take_turns_in_each_game(open_again: Callable[[], EventStore]) -> None:
    """What each thread appended stands in one piece, command by command."""
    stores = [open_again(), open_again()]
    in_threads(*(partial(play, stores[n % 2], f"g{n}", game_of(DRAW)) for n in range(8)))

    for _, command in groupby(feed_of(stores[0]), key=lambda record: (record.game, record.key)):
        versions = [record.version for record in command]
        assert versions == list(range(versions[0], versions[0] + len(versions)))
    for n in range(8):
        steps = game_of(DRAW)
        assert tuple(record.event for record in stores[1].read(f"g{n}")) == sum(steps, ())


# The bell and the watch by themselves


def nothing(_after: int) -> tuple[Recorded, ...]:
    """Read a store in which there is nothing."""
    return ()


class Clapper(Bell):
    """A bell that does something at the very moment at which it is asked how often it was rung."""

    def __init__(self) -> None:
        super().__init__()
        self.at_that_moment: list[Callable[[], None]] = []
        self.slept = False

    @property
    def rung(self) -> object:
        """Do what is to be done, and tell."""
        for do in self.at_that_moment:
            do()
        self.at_that_moment = []
        return super().rung

    def wait(self, rung: object, timeout: float | None = None) -> None:
        """Tell whether anybody would have waited for nothing."""
        self.slept = self.slept or self._rung is rung
        super().wait(rung, timeout)


@pytest.mark.parametrize("moment", ["asking", "reading"])
def test_a_watch_that_is_closed_at_any_moment_waits_no_more(moment: str) -> None:
    """Also if it had just made sure that it was open."""
    bell = Clapper()

    def read(after: int) -> tuple[Recorded, ...]:
        if moment == "reading":
            watch.close()
        return nothing(after)

    watch = Watch(read, lambda record: record.version, 0, bell)
    if moment == "asking":
        bell.at_that_moment = [watch.close]

    assert watch.wait(0.01) == ()
    assert not bell.slept, "it would have waited for ever"


def test_a_bell_that_rings_for_nothing_wakes_nobody_for_good() -> None:
    """Whoever waits looks, finds nothing, and waits on until their time is over."""
    bell = Bell()
    looked = []

    def read(after: int) -> tuple[Recorded, ...]:
        looked.append(after)
        if len(looked) < 5:
            bell.ring()
        return ()

    assert Watch(read, lambda record: record.version, 7, bell).wait(0.01) == ()
    assert looked[:5] == [7] * 5


def test_a_watch_goes_on_after_a_failure_where_it_was(open_again: Callable[[], EventStore]) -> None:
    """What could not be read is not skipped."""
    store = open_again()
    play(store, "game", game_of("5"))
    failures = [OSError("the line is down")] * 2

    def read(after: int) -> tuple[Recorded, ...]:
        if failures:
            raise failures.pop()
        return store.read("game", after)

    watch = Watch(read, lambda record: record.version, 1, Bell())
    for _ in range(2):
        with pytest.raises(OSError, match="the line is down"):
            watch.wait(DEADLINE)
    assert watch.wait(DEADLINE) == store.read("game", 1)


def test_closing_a_store_ends_its_watches(url: str) -> None:
    """Nobody waits for what a closed store will never tell."""
    store = open_store(url)
    play(store, "game", game_of("5"))
    watch = store.watch("game")
    seen = watch.wait(DEADLINE)
    ended: list[object] = []

    def wait_on() -> None:
        try:
            ended.append(watch.wait())
        except Exception as failure:  # noqa: BLE001 - either end will do
            ended.append(failure)

    waiting = Thread(target=wait_on, daemon=True)
    waiting.start()
    store.close()
    waiting.join(15)

    assert len(seen) == 6
    assert not waiting.is_alive(), "it hangs"


def test_a_loop_that_is_left_can_be_entered_again(store: EventStore) -> None:
    """What was not told yet is told then, and nothing twice."""
    play(store, "game", game_of("51"))
    watch = store.watch("game")

    first = next(iter(watch))
    second = next(iter(watch))
    rest = watch.wait(0)

    assert [record.version for record in (first, second, *rest)] == list(
        range(1, len(store.read("game")) + 1)
    )
