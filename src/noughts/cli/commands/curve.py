"""A learning curve, drawn with letters."""

from __future__ import annotations

from noughts.bots.odds import Odds
from noughts.core.board import Mark

HEIGHT = 10


def draw_curve(points: list[Odds], mark: Mark, games: int) -> str:
    """Draw how the chances of a player have changed: wins as w, draws as d, losses as l.

    >>> from fractions import Fraction
    >>> from noughts.core.board import Mark
    >>> from noughts.bots.odds import Odds
    >>> chances = [(0, 10), (2, 8), (5, 4), (7, 1), (8, 0)]
    >>> points = [Odds(*(Fraction(part, 10) for part in (won, 10 - won - lost, lost)), length=Fraction(9))
    ...           for won, lost in chances]
    >>> print(draw_curve(points, Mark.X, 100), end="")
    100 % |l
          |
          | l  w
          |   w
          |
     50 % |  w
          |  l
          |
          | w dd
          |  dl
      0 % |wd  l
          +-----
           0 to 100 games; w wins, d draws, l losses
    """
    width = len(points)
    rows = [[" "] * width for _ in range(HEIGHT + 1)]
    for column, point in enumerate(points):
        for letter, chance in (
            ("d", point.draw),
            ("w", point.win(mark)),
            ("l", point.win(mark.other)),
        ):
            rows[HEIGHT - round(HEIGHT * chance)][column] = letter
    labels = {0: "100 %", HEIGHT // 2: "50 %", HEIGHT: "0 %"}
    drawn = [f"{labels.get(number, ''):>5} |{''.join(row)}".rstrip() for number, row in enumerate(rows)]
    under = f"      +{'-' * width}", f"       0 to {games:,} games; w wins, d draws, l losses"
    return "".join(f"{line}\n" for line in (*drawn, *under))
