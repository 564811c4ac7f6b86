"""The figures of the web game, beside boardgame.io's."""
