"""Random complete games per second with pgx, compiled; run by the interpreter of the peers.

Arguments: batch size, seconds, and how a move is chosen: by `categorical`, JAX's own function, or by
`one-draw`, which is cheaper. Prints games and steps per second.
"""

import sys
import time
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import pgx


def main() -> None:
    """Compile, then play batch after batch: a step of every game in one loop until all are over."""
    batch, seconds, draw = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
    key, moves, games = play(jax.random.PRNGKey(0), batch, draw)
    key.block_until_ready()
    games = moves = 0
    start, end = time.process_time(), time.perf_counter() + seconds
    while time.perf_counter() < end:
        key, more_moves, more_games = play(key, batch, draw)
        games += int(more_games)
        moves += int(more_moves)
    took = time.process_time() - start
    print(games / took, moves / took)


ENV = pgx.make("tic_tac_toe")
INIT, STEP = jax.vmap(ENV.init), jax.vmap(ENV.step)


def choose(key: Any, legal: Any, draw: str) -> Any:  # noqa: ANN401 - the types of JAX
    """Choose evenly among the legal moves of each game."""
    if draw == "categorical":
        return jax.random.categorical(key, jnp.where(legal, 0.0, -jnp.inf), axis=-1)
    share = jax.random.uniform(key, legal.shape[:1])
    place = jnp.floor(share * legal.sum(axis=-1)).astype(jnp.int32)
    return (legal.cumsum(axis=-1) > place[:, None]).argmax(axis=-1)


@partial(jax.jit, static_argnums=(1, 2))
def play(key: Any, batch: int, draw: str) -> tuple[Any, Any, Any]:  # noqa: ANN401 - the types of JAX
    """Play a whole batch, each move drawn evenly among the legal ones; count moves and games."""
    key, sub = jax.random.split(key)
    state = INIT(jax.random.split(sub, batch))

    def is_going(carry: Any) -> Any:  # noqa: ANN401 - the types of JAX
        return ~(carry[0].terminated | carry[0].truncated).all()

    def body(carry: Any) -> Any:  # noqa: ANN401 - the types of JAX
        state, key, moves = carry
        key, sub = jax.random.split(key)
        live = ~(state.terminated | state.truncated)
        action = choose(sub, state.legal_action_mask, draw)
        return STEP(state, action), key, moves + live.sum()

    state, key, moves = jax.lax.while_loop(is_going, body, (state, key, jnp.int32(0)))
    return key, moves, (state.terminated | state.truncated).sum()


if __name__ == "__main__":
    main()
