"""Many runs of simulated processes, each with its own faults (`simulation.py`)."""

# ruff: noqa: D401, SLF001 - the faults that are put back are described, and lie inside

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeAlias

import pytest

from noughts.core.errors import NoughtsError
from noughts.store.base import StoredGame
from noughts.store.memory import MemoryPresence
from noughts.web import games, presence, streams
from noughts.web.bots import BotTurns
from noughts.web.games import Games
from noughts.web.problems import ApiError
from noughts.web.rooms import room_of
from noughts.web.streams import Stream
from support.figures import record_figure
from support.length import short_or_long
from support.web.simulated_clients import Guests
from support.web.simulation import FAULTS, Cluster, SimulatedStore

SEEDS = short_or_long(200, 20_000)
PARTS = 20
MUTANT_SEEDS = 200
"""Within so many, each mutant is found."""

FIGURE = (
    "{seeds} simulations of servers, {hours:.1f} simulated hours, {commands:,} commands: {problems} "
    "problems; faults: "
    + ", ".join(f"{kind} {{{kind.replace(' ', '_').replace(',', '')}}}" for kind in FAULTS)
)

Patch: TypeAlias = pytest.MonkeyPatch


def run(seed: int) -> Guests:
    guests = Guests(Cluster(seed))
    guests.run()
    return guests


@pytest.mark.torture
@pytest.mark.parametrize("part", range(PARTS))
def test_everybody_gets_everything_after_the_last_fault(
    part: int, record_property: Callable[[str, object], None]
) -> None:
    """Nothing acknowledged is lost, nothing is refused that was right, nobody waits forever."""
    for seed in range(part, SEEDS, PARTS):
        guests = run(seed)
        cluster = guests.cluster
        record_figure(
            record_property,
            FIGURE,
            seeds=1,
            hours=cluster.now / 3600,
            commands=len(guests.acknowledged),
            problems=len(cluster.problems),
            **{kind.replace(" ", "_").replace(",", ""): cluster.faults[kind] for kind in FAULTS},
        )
        assert not cluster.problems, f"seed {seed}: {cluster.problems}"


def test_a_seed_reproduces_a_run() -> None:
    """The same faults at the same times, and the same games in the end."""
    first, again = run(7), run(7)

    assert first.cluster.faults == again.cluster.faults
    assert first.cluster.now == again.cluster.now
    assert first.database.games == again.database.games
    assert first.acknowledged == again.acknowledged


# Faults that were put back, each by hand.


def lose_wake_ups(patch: Patch) -> None:
    """A stream that is woken while it writes, waits all the same."""

    def wake(stream: Stream) -> None:
        if stream._waiter and not stream._waiter.done():
            stream._waiter.set_result(None)

    patch.setattr(Stream, "wake", wake)


def lose_news(patch: Patch) -> None:
    """Nobody looks whether news was lost."""

    async def follow(found: Games) -> None:
        while True:
            await asyncio.sleep(games.FOLLOW_SECONDS)
            found.on_presence(None)

    patch.setattr(Games, "follow", follow)


def mute_streams(patch: Patch) -> None:
    """Pings are comments, which a page doesn't see."""
    patch.setattr(streams, "PING", b": ping\n\n")


def refuse_from_the_cache(patch: Patch) -> None:
    """A refusal needs no fresh read."""
    init = Games.__init__

    def alone(found: Games, *args: Any) -> None:
        init(found, *args)
        change = found.change

        async def hasty(game: str, decide: Any) -> Any:
            found.is_shared = False
            try:
                return await change(game, decide)
            finally:
                found.is_shared = found.store.is_shared

        patch.setattr(found, "change", hasty)

    patch.setattr(Games, "__init__", alone)


def refuse_seats_from_the_cache(patch: Patch) -> None:
    """Whoever has no seat in what is known is refused."""
    change = Games.change

    async def hasty(found: Games, game: str, decide: Any) -> Any:
        if known := found.known(game):
            try:
                decide(known)
            except ApiError as error:
                if error.code == "notFound":
                    raise
            except NoughtsError:
                pass
        return await change(found, game, decide)

    patch.setattr(Games, "change", hasty)


def keep_what_came_last(patch: Patch) -> None:
    """A read replaces what is known, also something newer."""

    def apply(found: Games, game: str, read: StoredGame | None, _held: object) -> StoredGame | None:
        known = found.known(game)
        if read and (known is None or read.revision != known.revision):
            found._keep(read)
        return read

    patch.setattr(Games, "_apply_read", apply)


def share_reads(patch: Patch) -> None:
    """A request shares a read of its game that has begun already."""
    read = Games.read
    reading: dict[tuple[Games, str], asyncio.Future[StoredGame | None]] = {}

    async def shared(found: Games, game: str) -> StoredGame | None:
        if (found, game) not in reading:
            begun = reading[found, game] = asyncio.ensure_future(read(found, game))
            begun.add_done_callback(lambda _done: reading.pop((found, game)))
        return await asyncio.shield(reading[found, game])

    patch.setattr(Games, "read", shared)


def answer_what_was_found(patch: Patch) -> None:
    """A command that is found in the record is acknowledged without a commit."""
    patch.setattr(SimulatedStore, "confirm", SimulatedStore.look)


def forget_turns(patch: Patch) -> None:
    """A bot that was too late, or has failed, is not asked again."""

    async def play(turns: BotTurns, stored: StoredGame) -> None:
        try:
            if policy := room_of(stored).bot_to_move(stored):
                with suppress(NoughtsError):
                    await turns._move(stored, policy)
        finally:
            del turns._thinking[stored.id]

    patch.setattr(BotTurns, "_play", play)


def keep_the_dead(patch: Patch) -> None:
    """The people of a process that was killed stay."""
    patch.setattr(presence, "EXPIRE_SECONDS", 3600.0)


def write_presence_once(patch: Patch) -> None:
    """Nobody writes who is there again, after a failover."""
    renew = MemoryPresence.renew
    patch.setattr(MemoryPresence, "renew", lambda *args: renew(*args) and False)


MUTANTS = (
    lose_wake_ups, lose_news, mute_streams, refuse_from_the_cache, refuse_seats_from_the_cache,
    keep_what_came_last, share_reads, answer_what_was_found, forget_turns, keep_the_dead,
    write_presence_once,
)  # fmt: skip


@pytest.mark.parametrize("mutate", MUTANTS)
def test_a_fault_that_is_put_back_is_found(mutate: Callable[[Patch], None], monkeypatch: Patch) -> None:
    mutate(monkeypatch)
    assert any(run(seed).cluster.problems for seed in range(MUTANT_SEEDS))
