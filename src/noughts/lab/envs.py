"""The environments by their versioned names; importing this module registers them.

- PettingZoo: `tic_tac_toe_v1.env()`, or `pettingzoo.make("aec", "noughts/tic_tac_toe-v1")`
- Gymnasium: `gymnasium.make("noughts/TicTacToe-v1")`, and `make_vec` of the same

A name never changes its meaning: any change of behaviour is a new version.
"""

from __future__ import annotations

import gymnasium
import pettingzoo  # type: ignore[import-untyped]  # it has no types

from noughts.lab import aec_env as tic_tac_toe_v1
from noughts.lab.gym_env import TicTacToeEnv
from noughts.lab.vector_env import TicTacToeVectorEnv

__all__ = ["AEC_ID", "GYM_ID", "TicTacToeEnv", "TicTacToeVectorEnv", "tic_tac_toe_v1"]

GYM_ID = "noughts/TicTacToe-v1"
AEC_ID = "noughts/tic_tac_toe-v1"


def register() -> None:
    """Register the environments; calling it again does nothing."""
    if GYM_ID not in gymnasium.registry:
        gymnasium.register(
            GYM_ID,
            entry_point="noughts.lab.gym_env:TicTacToeEnv",
            vector_entry_point="noughts.lab.vector_env:TicTacToeVectorEnv",
        )
    if AEC_ID not in pettingzoo.aec_registry:
        pettingzoo.register("aec", AEC_ID, "noughts.lab.aec_env:env")


register()
