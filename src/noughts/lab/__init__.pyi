# Written by `make names` from the table in __init__.py.
from noughts.lab.arrays import Rules
from noughts.lab.batch_play import Records, Tally
from noughts.lab.greedy_policy import greedy
from noughts.lab.gym_env import TicTacToeEnv
from noughts.lab.lookup import DRAWN, GOING, O_WON, POSITIONS, X_WON
from noughts.lab.plots import plot_curves, plot_ratings
from noughts.lab.ratings import Rating
from noughts.lab.simulation import Simulation
from noughts.lab.vector_env import TicTacToeVectorEnv

__all__ = [
    "DRAWN",
    "GOING",
    "O_WON",
    "POSITIONS",
    "Rating",
    "Records",
    "Rules",
    "Simulation",
    "Tally",
    "TicTacToeEnv",
    "TicTacToeVectorEnv",
    "X_WON",
    "greedy",
    "plot_curves",
    "plot_ratings",
]
