"""Watching what is recorded: by this store object, by another one, and by other processes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from noughts import events
from noughts.store import postgres
from noughts.store.appends import append_of
from noughts.store.base import EventStore
from noughts.store.documents import Document, Write
from noughts.store.errors import NoSuchGame, StoreUnavailable
from noughts.store.records import Record
from noughts.store.sqlite import SQLiteStore
from noughts.store.urls import open_store
from noughts.store.watch import ANYTHING, Subscription, Wakeups, Watch
from support.at_once import in_threads
from support.deadlines import LONG_DEADLINE_SECONDS
from support.played import CREATED, DRAW, NOW, X_WINS, check_whole, feed_of, fill, game_of, play
from support.store_games import everything, follow, listen

COMMANDS = len(game_of(DRAW))
"""How many records each of the drawn games here has."""

# Another process: when it reads a line, it plays games with as many threads as it has games.
WRITER = f"""
import sys
from threading import Thread
sys.path[:0] = {sys.path!r}
from noughts.store.memory import MemoryStore
from noughts.store.urls import open_store
from support.played import DRAW, game_of, play

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
    """Start a process that plays these games when asked to."""
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
            said, _ = process.communicate("go\n", timeout=LONG_DEADLINE_SECONDS)
            assert said == "done\n"


def begin(process: subprocess.Popen[str]) -> None:
    assert process.stdin
    process.stdin.write("go\n")
    process.stdin.flush()


@pytest.fixture
def _no_polling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rely on notifications alone to wake watches, if the engine has them."""
    monkeypatch.setattr(postgres, "POLL_INTERVAL_SECONDS", 1_000_000)


# In one store object


def test_a_watch_returns_what_is_there_and_then_what_comes(store: EventStore) -> None:
    steps = game_of(X_WINS)
    version = play(store, "game", steps[:3])
    with store.watch("game", after=3) as watch:
        assert watch.wait(LONG_DEADLINE_SECONDS) == store.read("game", 3)
        assert watch.wait(0) == ()
        play(store, "other", game_of(DRAW))
        play(store, "game", steps[3:4], version)
        assert watch.wait(LONG_DEADLINE_SECONDS) == store.read("game", version)
        assert watch.wait(0) == ()


def test_a_watch_of_all_games_follows_the_feed(store: EventStore) -> None:
    fill(store)
    _, cursor = store.feed(limit=5)
    with store.watch_all(cursor) as watch:
        assert watch.wait(LONG_DEADLINE_SECONDS) == store.feed(cursor)[0]
        play(store, "new", [CREATED])
        assert watch.wait(LONG_DEADLINE_SECONDS) == store.read("new")
        assert watch.wait(0) == ()


def test_a_game_can_be_watched_before_it_is_created(store: EventStore) -> None:
    with store.watch("game") as watch:
        assert watch.wait(0) == watch.wait(0.01) == ()
        seen, _ = in_threads(
            partial(follow, watch, COMMANDS), partial(play, store, "game", game_of(DRAW))
        )
    assert seen == store.read("game")


def test_a_watch_of_a_deleted_game_raises(store: EventStore) -> None:
    play(store, "game", [CREATED])
    watch = store.watch("game")
    assert len(watch.wait(LONG_DEADLINE_SECONDS)) == 1

    outcome, _ = in_threads(watch.wait, partial(store.delete, "game", at=NOW))

    assert isinstance(outcome, NoSuchGame)
    for after in (0, 3):
        with pytest.raises(NoSuchGame, match="game game was deleted"):
            store.watch("game", after=after).wait(0)
    with store.watch_all() as feed:
        assert [record.is_deletion for record in feed.wait(LONG_DEADLINE_SECONDS)] == [True]


def test_closing_a_watch_ends_it(store: EventStore) -> None:
    """Also for a thread that is waiting in it; nothing more can be read from it."""
    watch = store.watch("game")
    seen: list[Record] = []
    closer = Thread(target=watch.close, daemon=True)

    def follow_to_the_end() -> str:
        for record in watch:
            seen.append(record)
            closer.start()
        return "ended"

    assert in_threads(follow_to_the_end, partial(play, store, "game", [CREATED])) == ["ended", 3]
    assert tuple(seen) == store.read("game")
    play(store, "game", [(events.GamePlacedCount(1),)], 3)
    assert watch.wait() == ()
    assert list(watch) == []


def test_a_loop_over_a_watch_can_be_left_and_entered_again(store: EventStore) -> None:
    play(store, "game", game_of("51"))
    watch = store.watch("game")

    assert (next(iter(watch)), next(iter(watch)), *watch.wait(0)) == store.read("game")


def test_several_watch_while_several_write(store: EventStore) -> None:
    games = [f"game{number}" for number in range(4)]

    def follow_one(game: str) -> tuple[Record, ...]:
        with store.watch(game) as watch:
            return follow(watch, COMMANDS)

    def follow_all() -> tuple[Record, ...]:
        with store.watch_all() as watch:
            return follow(watch, 4 * COMMANDS)

    writers = [partial(play, store, game, game_of(DRAW)) for game in games]
    outcomes = in_threads(
        *writers, follow_all, follow_all, *(partial(follow_one, game) for game in games)
    )

    assert outcomes[4:6] == [tuple(feed_of(store))] * 2
    assert outcomes[6:] == [store.read(game) for game in games]


@pytest.mark.usefixtures("_no_polling")
def test_own_changes_are_not_reported(store: EventStore) -> None:
    changes = listen(store)
    play(store, "game", [CREATED])
    store.write_document("document", "text", expected=0)
    store.delete("game", at=NOW)

    assert changes.wait(0.1) == set()


# Between store objects and processes


def wait_for(changes: Subscription, *names: str) -> set[str]:
    """Wait until all these names are reported, and return all that were; none if anything may have."""
    found: set[str] = set()
    while not found.issuperset(names):
        new = changes.wait(LONG_DEADLINE_SECONDS)
        if new is ANYTHING:
            return set()
        assert new, f"only {found} were reported"
        found |= new
    return found


@pytest.mark.usefixtures("_no_polling")
def test_changes_by_another_store_object_are_reported(
    url: str, open_again: Callable[[], EventStore]
) -> None:
    here, there = open_again(), open_again()
    changes = listen(here)
    play(here, "mine", [CREATED])
    here.write_document("mine-too", "text", expected=0)

    play(there, "game", [CREATED])
    names = wait_for(changes, "game")
    # SQLite names everything since its last poll, if others wrote any of it.
    assert not url.startswith("postgres") or names == {"game"}
    there.write_document("document", "text", expected=0)
    wait_for(changes, "document")
    room = Write("room", "text", expected=0)
    there.record([append_of("a", 0, CREATED, key="k", at=NOW, document=room), Write("b", "", expected=0)])
    wait_for(changes, "a", "b", "room")
    copy = Document("copy", 7, "", "text", "key")
    there.restore([append_of("c", 0, CREATED, key="k", at=NOW)], [copy])
    wait_for(changes, "c")
    there.delete("game", at=NOW)
    wait_for(changes, "game")
    assert here.read("game") == ()


@pytest.mark.usefixtures("_no_polling")
def test_a_deletion_ends_a_watch_elsewhere(open_again: Callable[[], EventStore]) -> None:
    here, there = open_again(), open_again()
    listen(here)
    play(there, "game", [CREATED])
    watch = here.watch("game")
    assert len(watch.wait(LONG_DEADLINE_SECONDS)) == 1

    outcome, _ = in_threads(watch.wait, partial(there.delete, "game", at=NOW))

    assert isinstance(outcome, NoSuchGame)


@pytest.mark.usefixtures("_no_polling")
def test_what_another_process_records_is_seen(url: str, open_again: Callable[[], EventStore]) -> None:
    store = open_again()
    listen(store)
    play(store, "before", game_of("5"))
    with (
        writer(url, "game") as process,
        store.watch("game") as one,
        store.watch("before") as other,
        store.watch_all() as feed,
    ):
        assert len(other.wait(LONG_DEADLINE_SECONDS)) == 2
        _, *outcomes = in_threads(
            partial(begin, process), partial(follow, one, COMMANDS), partial(follow, feed, 2 + COMMANDS)
        )
        assert outcomes == [store.read("game"), store.feed()[0]]
        assert other.wait(0) == ()


@pytest.mark.usefixtures("_no_polling")
def test_nothing_is_missed_or_seen_twice_while_processes_write(
    url: str, open_again: Callable[[], EventStore]
) -> None:
    store = open_again()
    listen(store)
    theirs = [[f"w{process}-{game}" for game in range(4)] for process in range(2)]
    total = 9 * COMMANDS
    with ExitStack() as stack:
        processes = [stack.enter_context(writer(url, *games)) for games in theirs]
        first, second = (stack.enter_context(store.watch_all()) for _ in range(2))
        watches = [stack.enter_context(store.watch(game)) for games in theirs for game in games]
        for process in processes:
            begin(process)
        _, seen, *games_seen = in_threads(
            partial(play, store, "mine", game_of(DRAW)),
            partial(follow, first, total),
            *(partial(follow, watch, COMMANDS) for watch in watches),
        )
        assert sorted(follow(second, total)) == sorted(feed_of(store))

    assert isinstance(seen, tuple)
    check_whole(seen)
    assert sorted(seen) == sorted(everything(store))
    assert games_seen == [store.read(game) for games in theirs for game in games]


def test_a_reader_of_the_feed_misses_nothing(open_again: Callable[[], EventStore]) -> None:
    one, other, reader = open_again(), open_again(), open_again()
    names = [f"g{number}" for number in range(16)]

    def read_on() -> list[Record]:
        seen: list[Record] = []
        cursor = ""
        while len(seen) < len(names) * COMMANDS:
            page, cursor = reader.feed(cursor, 50)
            seen += page
        return seen

    writers = [
        partial(play, store, name, game_of(DRAW))
        for name, store in zip(names, [one, other] * 8, strict=True)
    ]
    seen, *_ = in_threads(read_on, *writers)

    assert isinstance(seen, list)
    check_whole(seen)
    assert sorted(seen) == sorted(everything(one))


def test_closing_a_store_ends_its_watches(url: str) -> None:
    store = open_store(url)
    play(store, "game", game_of("5"))
    watch, changes = store.watch("game"), store.changes()
    assert len(watch.wait(LONG_DEADLINE_SECONDS)) == 2

    outcome, names, _ = in_threads(watch.wait, changes.wait, store.close)

    assert isinstance(outcome, StoreUnavailable)
    assert names is ANYTHING


# Wake-ups and watches alone


def test_a_subscription_collects_the_names_since_it_was_last_asked() -> None:
    """Its own name or all, and "anything" includes every name."""
    wakeups = Wakeups()
    wakeups.notify(["nobody"], is_own=True)
    one, every, others = wakeups.subscribe("a"), wakeups.subscribe(), wakeups.subscribe(only_others=True)
    wakeups.notify(["a", "b"], is_own=True)
    wakeups.notify(["c"], is_own=False)
    wakeups.notify(["b"], is_own=False)

    assert [each.wait(0) for each in (every, others)] == [{"a", "b", "c"}, {"b", "c"}]
    assert "a" in (one.wait(0) or ())
    wakeups.notify(["b"], is_own=False)
    assert [each.wait(0) for each in (one, every, others)] == [set(), {"b"}, {"b"}]
    wakeups.notify(["b"], is_own=False)
    wakeups.notify(ANYTHING, is_own=False)
    wakeups.notify(["b"], is_own=False)
    assert [each.wait(0) for each in (one, every, others)] == [ANYTHING] * 3
    assert [each.wait(0) for each in (one, every, others)] == [set()] * 3


def test_a_subscription_that_nobody_holds_is_forgotten() -> None:
    wakeups = Wakeups()
    for _ in range(10):
        wakeups.subscribe()

    assert not len(wakeups._subscriptions)  # noqa: SLF001 - not visible otherwise


class Sleepless(Subscription):
    """A subscription that notes whether it would wait for nothing."""

    slept = False

    def wait(self, timeout: float | None = None) -> set[str] | None:
        self.slept = self.slept or self._changed == set()
        return super().wait(timeout)


def test_a_watch_that_is_closed_while_it_reads_waits_no_more() -> None:
    subscription = Sleepless()

    def read(after: int) -> tuple[tuple[Record, ...], int]:
        watch.close()
        return (), after

    watch = Watch(read, 0, subscription)

    assert watch.wait(0.01) == ()
    assert not subscription.slept, "it would have waited forever"


def test_a_needless_wake_up_does_not_end_a_wait() -> None:
    subscription = Subscription()
    reads = []

    def read(after: int) -> tuple[tuple[Record, ...], int]:
        reads.append(after)
        if len(reads) < 5:
            subscription.notify({"game"})
        return (), after

    assert Watch(read, 7, subscription).wait(0.01) == ()
    assert reads[:5] == [7] * 5


def test_a_watch_goes_on_after_a_failure_where_it_was(store: EventStore) -> None:
    play(store, "game", game_of("5"))
    failures = [OSError("the connection is down")] * 2

    def read(after: int) -> tuple[tuple[Record, ...], int]:
        if failures:
            raise failures.pop()
        return store.read("game", after), 6

    watch = Watch(read, 3, Subscription())
    for _ in range(2):
        with pytest.raises(OSError, match="the connection is down"):
            watch.wait(LONG_DEADLINE_SECONDS)
    assert watch.wait(LONG_DEADLINE_SECONDS) == store.read("game", 3)


def test_what_was_rolled_back_hides_nothing_that_others_write(tmp_path: Path) -> None:
    """On SQLite, the next record of another process gets the number that was given back."""
    url = f"sqlite:{tmp_path / 'games'}"
    with open_store(url) as store, open_store(url) as other:
        assert isinstance(store, SQLiteStore)
        changes = listen(store)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(SQLiteStore, "_write_rows", written_and_interrupted(SQLiteStore._write_rows))  # noqa: SLF001 - where an interrupt arrives
            with pytest.raises(KeyboardInterrupt):
                play(store, "mine", [CREATED])
        for _ in range(2):
            store._group.record((), alone=store._look_for_others)  # noqa: SLF001 - now, and not in a moment
        changes.wait(0)
        play(other, "theirs", [CREATED])

        assert changes.wait(LONG_DEADLINE_SECONDS) == {"theirs"}


def written_and_interrupted(write: Callable[..., None]) -> Callable[..., None]:
    def interrupted(*arguments: Any) -> None:  # noqa: ANN401 - passed on
        write(*arguments)
        raise KeyboardInterrupt

    return interrupted
