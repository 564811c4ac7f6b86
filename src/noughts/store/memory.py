"""A store that lasts as long as the process."""

from __future__ import annotations

from threading import Lock

from noughts.store.base import EventStore
from noughts.store.chain import GENESIS, Recorded
from noughts.store.ledger import Ledger, Listing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from noughts.store.base import Wanted
    from noughts.store.ledger import Append


class MemoryStore(EventStore):
    """Lists, and a lock around them."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = Lock()
        self._ledger = Ledger()
        self._all: list[Recorded] = []
        self._games: dict[str, list[Recorded]] = {}
        self._list: list[Listing] = []

    def _commit(self, batch: Sequence[Append]) -> None:
        with self._lock:
            verdict = self._ledger.judge(batch, self._stands)
            self._list += verdict.games
            for position, number, version, at, key, text, link in verdict.rows:
                game = self._list[number - 1].game
                record = Recorded(position, game, version, at, key, text, link)
                self._all.append(record)
                self._games.setdefault(game, []).append(record)
            for column, value, number in verdict.changes:
                self._list[number - 1] = self._list[number - 1].with_change(column, value)

    def _stands(self, append: Append) -> bool:
        rows = self._games.get(append.game, [])[append.expected :]
        return append.is_recorded_in([(row.key, row.text) for row in rows])

    def _rows(self, game: str, first: int) -> list[Recorded]:
        with self._lock:
            return self._games.get(game, [])[first - 1 :]

    def _feed(self, after: int, limit: int) -> list[tuple[Recorded, bytes]]:
        with self._lock:
            return [
                (
                    record,
                    self._games[record.game][record.version - 2].hash if record.version > 1 else GENESIS,
                )
                for record in self._all[after : after + limit]
            ]

    def _catalogue(self, wanted: Wanted, limit: int, before: int | None) -> list[Listing]:
        with self._lock:
            newest_first = self._list[: None if before is None else max(0, before - 1)][::-1]
        return [listing for listing in newest_first if _is_wanted(listing, wanted)][:limit]

    def _listen(self) -> None:
        """There is no other process."""

    def complaints(self) -> Iterator[str]:
        """Find nothing: memory has no disk to go bad."""
        return iter(())

    def _close(self) -> None:
        """There is nothing to give back."""


def _is_wanted(listing: Listing, wanted: Wanted) -> bool:
    return (
        (wanted.player is None or wanted.player in (listing.x, listing.o))
        and (wanted.is_over is None or wanted.is_over == (listing.result is not None))
        and (wanted.result is None or wanted.result == listing.result)
        and listing.game.startswith(wanted.beginning)
    )
