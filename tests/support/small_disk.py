"""Plays into a store whose files may not grow beyond a limit, which the kernel enforces.

It prints, as JSON, the message of the error and then everything that was acknowledged. After the error it
lifts the limit and plays on in the same store.
"""

from __future__ import annotations

import json
import resource
import sys
from random import Random

from noughts.store.base import Change
from noughts.store.errors import StoreUnavailable
from noughts.store.urls import open_store
from support.played import commit
from support.store_games import changes, hashes, new_game


def main(url: str, limit: int) -> None:
    """Play until the limit is reached, and a little longer."""
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    acknowledged: dict[str, bytes] = {}
    chance = Random(0)
    refusals = games_left = 0
    with open_store(url) as store:
        while refusals == 0 or games_left:
            games_left -= 1
            for change in changes(new_game(chance), chance):
                try:
                    commit(store, change)
                except StoreUnavailable as refusal:
                    refusals, games_left = refusals + 1, 5
                    print(json.dumps(str(refusal)))
                    assert hashes(store) == acknowledged
                    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
                    commit(store, Change(change.before, change.after))
                acknowledged[change.id] = change.after.hash
        print(json.dumps({game: found.hex() for game, found in acknowledged.items()}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
