"""Many runs of a simulated cluster, each with its own faults (`simulation.py`)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from noughts.web import streams
from noughts.web.bots import BotTurns
from noughts.web.game import LiveGame
from support.figures import record_figure
from support.length import short_or_long
from support.web.simulation import FAULTS, Cluster

SEEDS = short_or_long(200, 20_000)
PARTS = 20
FIGURE = (
    "{seeds} simulations of the server, {hours:.1f} simulated hours: {problems} problems; faults: "
    + ", ".join(f"{kind} {{{kind.replace(' ', '_').replace(',', '')}}}" for kind in FAULTS)
)


def run(seed: int) -> Cluster:
    cluster = Cluster(seed)
    cluster.run()
    return cluster


@pytest.mark.torture
@pytest.mark.parametrize("part", range(PARTS))
def test_everybody_makes_progress_after_the_last_fault(
    part: int, record_property: Callable[[str, object], None]
) -> None:
    """Nothing acknowledged is lost, nothing refused is recorded, no client waits forever."""
    for seed in range(part, SEEDS, PARTS):
        cluster = run(seed)
        faults = {kind.replace(" ", "_").replace(",", ""): cluster.faults[kind] for kind in FAULTS}
        hours = cluster.simulation.now / 3600
        record_figure(
            record_property, FIGURE, seeds=1, hours=hours, problems=len(cluster.problems), **faults
        )
        assert not cluster.problems, f"seed {seed}: {cluster.problems}"


def test_a_seed_reproduces_a_run() -> None:
    """The same faults at the same times, and the same games in the end."""
    first, again = run(7), run(7)

    assert first.faults == again.faults
    assert first.last_fault == again.last_fault
    for one, other in zip(first.games, again.games, strict=True):
        assert one.id == other.id
        assert first.store.read(one.id) == again.store.read(one.id)


class LateRemoval(dict["LiveGame", "asyncio.Task[None]"]):
    """Removes a game when its task is done, one turn of the loop after the task's last check."""

    def __delitem__(self, live: LiveGame) -> None:
        self[live].add_done_callback(lambda _done: self.pop(live))


def test_the_simulation_detects_a_forgotten_turn_of_a_bot(monkeypatch: pytest.MonkeyPatch) -> None:
    """A move is recorded after the bot's last check, while it still counts as thinking."""
    init = BotTurns.__init__

    def forgetful(turns: BotTurns, *args: object) -> None:
        init(turns, *args)  # type: ignore[arg-type]  # as they came
        turns._thinking = LateRemoval()  # noqa: SLF001 - the fault that is put back

    monkeypatch.setattr(BotTurns, "__init__", forgetful)
    assert any("a turn of a bot was missed" in run(seed).problems for seed in range(200))


def test_the_simulation_detects_a_dead_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """If pings were comments, which a page doesn't see, every quiet stream would look dead."""
    monkeypatch.setattr(streams, "PING", b": ping\n\n")
    assert any("a stream was silent without a fault" in run(seed).problems for seed in range(200))
