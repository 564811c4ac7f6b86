"""Plays into a store with no more than so many bytes to a file, a limit that the kernel itself keeps.

What was acknowledged is told as JSON, one row a line; what was refused as one line of text. After the
refusal the limit is lifted, and the play goes on in the same store.
"""

from __future__ import annotations

import json
import resource
import sys
from random import Random
from typing import TYPE_CHECKING

from noughts.core.errors import StoreUnavailable
from noughts.store.opening import open_store
from store_games import everything, row_of, turns

if TYPE_CHECKING:
    from store_games import Row


def main(url: str, limit: int) -> None:
    """Play until the limit is reached, and a little longer."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    acknowledged: list[Row] = []
    refusals = games = 0
    with open_store(url) as store:
        while refusals == 0 or len(acknowledged) % 100:
            games += 1
            for turn in turns(f"game-{games}", Random(games)):
                try:
                    turn.append_to(store)
                except StoreUnavailable as refusal:
                    refusals += 1
                    print(json.dumps(str(refusal)))
                    assert [row_of(record) for record in everything(store)] == acknowledged
                    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
                    turn.append_to(store)
                acknowledged += turn.rows
        for row in acknowledged:
            print(json.dumps(row))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
