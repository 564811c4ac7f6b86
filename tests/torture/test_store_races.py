"""Eight writers append at the same version of the same game: one succeeds, seven are refused."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TypeAlias

import pytest

from noughts.core.codec import dumps
from noughts.store.appends import Batch, Outcome
from noughts.store.errors import StaleVersion
from noughts.store.postgres import PostgresStore
from noughts.store.urls import open_store
from support.command import script
from support.figures import Property, tally
from support.length import short_or_long
from support.played import NOW, X_WINS, game_of, play
from support.rival_writers import DELETED, STALE, WON, RivalWriters, deletes, events_wanted
from support.store_games import everything

Race: TypeAlias = Callable[[str, int], dict[int, str]]

RACES = short_or_long(100, 5000)
SHARES = [RACES // 2] * 2
WRITERS = 8

THREADS = "{races:,} races of 8 threads ({engine}): {winners:,} winners, {stale:,} stale versions"
PROCESSES = THREADS.replace("8 threads", "2 × 4 threads in 2 processes")
DELETIONS = "{races:,} races to delete a game that others play ({engine}): {deleted:,} deleted once"


@contextmanager
def threads(url: str) -> Iterator[Race]:
    with open_store(url) as store:
        writers = RivalWriters(store, range(WRITERS))
        yield writers.race
        writers.stop()


@contextmanager
def processes(url: str) -> Iterator[Race]:
    """Race two processes with four threads each."""
    open_store(url).close()
    half = WRITERS // 2
    with ExitStack() as stack:
        started = [
            stack.enter_context(
                subprocess.Popen(
                    [*script("rival_writers"), url, str(first), str(first + half)],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            for first in (0, half)
        ]

        def race(game: str, version: int) -> dict[int, str]:
            for process in started:
                assert process.stdin
                process.stdin.write(f"{game} {version}\n")
                process.stdin.flush()
            outcomes: list[str] = []
            for process in started:
                assert process.stdout
                outcomes += process.stdout.readline().rstrip("\n").split("\t")
            return dict(enumerate(outcomes))

        yield race


def race_repeatedly(url: str, race: Race, races: int, numbers: Counter[str]) -> None:
    """Race for the start of a game and for its first move, in turn; then check the store."""
    expected = set()
    for number in range(races):
        game, version = f"game-{number // 2}", (0, 3)[number % 2]
        outcomes = race(game, version)
        winners = [writer for writer, outcome in outcomes.items() if outcome == WON]
        stale = [writer for writer, outcome in outcomes.items() if outcome == STALE]
        numbers.update(races=1, winners=len(winners), stale=len(stale))
        assert (len(winners), len(stale)) == (1, WRITERS - 1), outcomes
        (winner,) = winners
        text = "\n".join(map(dumps, events_wanted(winner, version)))
        expected.add((game, version, winner, f"writer-{winner}", text))
    with open_store(url, create=False) as store:
        found = [record[:5] for record in everything(store)]
    assert set(found) == expected
    assert len(found) == len(expected)


def delete_repeatedly(url: str, race: Race, races: int, numbers: Counter[str]) -> None:
    """Let two writers delete a game while six append its first move; then check the store."""
    for number in range(races):
        game = f"deleted-{number}"
        race(game, 0)
        outcomes = race(game, 3)
        deleters = [outcome for writer, outcome in outcomes.items() if deletes(writer, game)]
        players = [outcome for writer, outcome in outcomes.items() if not deletes(writer, game)]
        assert sorted(deleters) == [DELETED, WON], outcomes
        assert players.count(WON) <= 1, outcomes
        assert {*players} <= {WON, STALE, DELETED}, outcomes
        numbers.update(races=1, deleted=deleters.count(WON))
    with open_store(url, create=False) as store:
        found = everything(store)
    assert {record.game for record in found} == {f"deleted-{number}" for number in range(races)}
    assert all(record.is_deletion for record in found)


def engine_of(url: str) -> str:
    return "SQLite" if url.startswith("sqlite:") else "PostgreSQL"


@pytest.mark.torture
@pytest.mark.parametrize("races", SHARES)
@pytest.mark.parametrize(
    ("start", "figure"), [(threads, THREADS), (processes, PROCESSES)], ids=("threads", "processes")
)
def test_one_of_eight_writers_wins(
    url: str,
    start: Callable[[str], AbstractContextManager[Race]],
    figure: str,
    races: int,
    record_property: Property,
) -> None:
    line = figure.replace("{engine}", engine_of(url))
    with tally(record_property, line) as numbers, start(url) as race:
        race_repeatedly(url, race, races, numbers)


@pytest.mark.torture
@pytest.mark.parametrize("start", [threads, processes])
def test_only_one_of_two_deletions_during_play_succeeds(
    url: str, start: Callable[[str], AbstractContextManager[Race]], record_property: Property
) -> None:
    """One of the two deletions succeeds, at most one move comes before it, and none after."""
    line = DELETIONS.replace("{engine}", engine_of(url))
    with tally(record_property, line) as numbers, start(url) as race:
        delete_repeatedly(url, race, RACES // 10, numbers)


def test_a_document_deleted_in_the_meantime_is_not_written(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a server, another process can delete it between the check and the write."""
    with PostgresStore(postgres_url) as one, open_store(postgres_url) as other:
        play(one, "game", game_of(X_WINS))
        one.write_document("game", "first", expected=0)
        judge = one._judge  # noqa: SLF001 - nothing else comes between

        def delete_after(batch: Batch) -> Outcome:
            outcome = judge(batch)
            monkeypatch.undo()
            other.delete("game", at=NOW)
            return outcome

        monkeypatch.setattr(one, "_judge", delete_after)
        with pytest.raises(StaleVersion, match="document game is at revision 0, not at 1"):
            one.write_document("game", "second", expected=1)
        assert other.document("game") is None
