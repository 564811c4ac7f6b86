"""What SQLite and PostgreSQL do alike: rows, lists and the count of hours, read with the same SQL."""

# ruff: noqa: S608 - all SQL is our own text

from __future__ import annotations

from abc import abstractmethod

from noughts.store.base import GameFilter, Start, Store
from noughts.store.rows import LISTED, ROW, Row

_GAMES = f"SELECT {ROW}, {LISTED} FROM games"


class SQLStore(Store):
    @abstractmethod
    def _select(self, statement: str, *values: object) -> list[Row]:
        """Execute a statement with a question mark for each value."""

    def _page(self, after: str, limit: int) -> list[Row]:
        return self._select(f"{_GAMES} WHERE id > ? ORDER BY id LIMIT ?", after, limit)

    def _list(self, wanted: GameFilter, limit: int, before: Start | None) -> list[Row]:
        found, values = ["started IS NOT NULL"], list[object]()
        if wanted.player is not None:
            found.append("(x = ? OR o = ?)")
            values += [wanted.player, wanted.player]
        if wanted.is_over is not None:
            found.append(f"result IS {'NOT ' if wanted.is_over else ''}NULL")
        if wanted.result is not None:
            found.append("result = ?")
            values.append(wanted.result)
        if wanted.id_prefix:
            found.append("id >= ? AND id < ?")
            values += [wanted.id_prefix, wanted.id_prefix + "\x7f"]
        if before is not None:
            found.append("(started, id) < (?, ?)")
            values += before
        order = "ORDER BY started DESC, id DESC LIMIT ?"
        return self._select(f"{_GAMES} WHERE {' AND '.join(found)} {order}", *values, limit)

    def _idle(self, before: int, after: str, limit: int) -> list[str]:
        where = "hour < ? AND id > ? AND started IS NOT NULL AND room <> '' ORDER BY id LIMIT ?"
        found = self._select(f"SELECT id FROM games WHERE {where}", before, after, limit)
        return [game for (game,) in found]

    def _count(self) -> int:
        return int(self._select("SELECT count(*) FROM games")[0][0])

    def _counter(self) -> Row:
        return next(iter(self._select("SELECT hours, hash FROM counter")), (None, None))
