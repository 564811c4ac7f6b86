"""A store that lasts as long as the process."""

from __future__ import annotations

from itertools import islice, takewhile
from threading import Lock

from noughts.store.base import EventStore
from noughts.store.chain import GENESIS, Recorded
from noughts.store.ledger import Head, Ledger, Listing, catalogued

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from noughts.store.base import Wanted
    from noughts.store.ledger import Append
    from noughts.store.notes import Judge
    from noughts.store.notes import Row as NoteRow


class MemoryStore(EventStore):
    """Lists, and a lock around them."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = Lock()
        self._ledger = Ledger()
        self._all: list[Recorded] = []
        self._games: dict[str, list[Recorded]] = {}
        self._list: list[Listing] = []
        self._noted: dict[str, NoteRow] = {}
        """In the order of their changes."""

    def _commit(self, batch: Sequence[Append]) -> None:
        with self._lock:
            before = len(self._all)
            try:
                verdict = self._ledger.judge(batch, self._stands)
                for listing in verdict.games:
                    self._list.append(listing)
                for position, number, version, at, key, text, link in verdict.rows:
                    game = self._list[number - 1].game
                    self._keep(Recorded(position, game, version, at, key, text, link))
            except BaseException:  # a refusal, or Ctrl-C
                self._start_again(self._all[:before])
                raise

    def _keep(self, record: Recorded) -> None:
        self._all.append(record)
        self._games.setdefault(record.game, []).append(record)
        if change := catalogued(record.event):
            number = self._ledger.heads[record.game].number
            self._list[number - 1] = self._list[number - 1].with_change(*change)

    def _start_again(self, records: Iterable[Recorded]) -> None:
        """Become what these records make, whatever was half done."""
        self._ledger, self._all, self._games, self._list = Ledger(), [], {}, []
        for record in records:
            head = self._ledger.heads.get(record.game)
            if head is None:
                self._list.append(Listing(len(self._list) + 1, record.game))
            number = head.number if head else len(self._list)
            self._ledger.heads[record.game] = Head(number, record.version, record.hash)
            self._ledger.position, self._ledger.number = record.position, len(self._list)
            self._keep(record)

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

    def _last_position(self) -> int:
        return len(self._all)

    def _commit_notes(self, names: Iterable[str], judge: Judge) -> None:
        with self._lock:
            there = [self._noted[name] for name in names if name in self._noted]
            new = {row[0]: row for row in judge(there, self._end_of_notes())}
            before = {name: self._noted[name] for name in new if name in self._noted}
            try:
                for name, row in new.items():
                    self._noted.pop(name, None)
                    self._noted[name] = row
            except BaseException:  # Ctrl-C
                kept = {name: row for name, row in self._noted.items() if name not in new} | before
                self._noted = dict(sorted(kept.items(), key=lambda item: item[1][2]))
                raise

    def _end_of_notes(self) -> int:
        return next(reversed(self._noted.values()))[2] if self._noted else 0

    def _note(self, name: str) -> NoteRow | None:
        with self._lock:
            return self._noted.get(name)

    def _notes(self, shelf: str, limit: int) -> list[NoteRow]:
        with self._lock:
            return list(islice((row for row in reversed(self._noted.values()) if row[3] == shelf), limit))

    def _changed_notes(self, after: int, limit: int) -> list[NoteRow]:
        with self._lock:
            changed = list(takewhile(lambda row: row[2] > after, reversed(self._noted.values())))
        return changed[::-1][:limit]

    def _last_change(self) -> int:
        with self._lock:
            return self._end_of_notes()

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
