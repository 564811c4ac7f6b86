"""Plots of ratings and of learning curves, as SVG or PNG.

The output is reproducible, and text in an SVG is text.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, simplefilter

from noughts.core.errors import complaint, quoted
from noughts.files import check_replaceable, write_output
from noughts.lab.errors import BadFormat, BadSetting
from noughts.lab.ratings import Rating
from noughts.text.columns import shorten

if TYPE_CHECKING:
    from matplotlib.typing import RcKeyType  # newer than the oldest matplotlib that is allowed


@contextmanager
def _silenced() -> Iterator[None]:
    """Silence matplotlib: it warns about user settings, which are not used here."""
    logger = logging.getLogger("matplotlib")
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        with catch_warnings():
            simplefilter("ignore")  # a missing glyph is drawn as a box
            yield
    finally:
        logger.setLevel(before)


@contextmanager
def _without_user_settings() -> Iterator[None]:
    """Ignore the user's settings, which matplotlib reads when it is imported, and may fail on."""
    before = {name: os.environ.get(name) for name in ("MPLBACKEND", "MATPLOTLIBRC")}
    os.environ.pop("MATPLOTLIBRC", None)
    os.environ["MPLBACKEND"] = "agg"
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


with _without_user_settings(), _silenced():
    try:
        from matplotlib import rc_context, rcdefaults, rcParams
        from matplotlib.axes import Axes
        from matplotlib.figure import Figure
        from matplotlib.ticker import StrMethodFormatter
    except (OSError, ValueError) as error:  # such as a binary settings file in this folder
        raise BadSetting(f"matplotlib cannot read its settings: {complaint(error)}") from error

EXTENSIONS = ".svg", ".png"
INK, PALE = "#222222", "#d9d9d9"
COLOURS = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"
"""The palette of Okabe and Ito, which is safe for colour-blind readers."""
DASHES = "-", "--", ":", "-."
MAX_NAME_COLUMNS = 32
_STYLE: dict[RcKeyType, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "noughts",
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "figure.constrained_layout.h_pad": 0.1,
    "figure.constrained_layout.w_pad": 0.1,
    "text.parse_math": False,  # names may contain a dollar sign
    "axes.unicode_minus": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


def check_plot(file: str) -> None:
    """Refuse a file that is not named .svg or .png, or that cannot be written."""
    if Path(file).name.lower() in EXTENSIONS:
        raise BadFormat(f"{quoted(file)} has no name before its extension: use a name such as plot.svg")
    if not file.lower().endswith(EXTENSIONS):
        raise BadFormat(f"{quoted(file)} does not end in .svg or .png, the formats of a plot")
    check_replaceable(file)


def plot_ratings(ratings: Sequence[Rating], file: str) -> None:
    """Draw each bot's rating as a dot and its interval as a line, the best on top."""
    ranked = sorted(ratings, key=lambda one: one.rating)
    with _axes(file, (7.0, 1.3 + 0.36 * len(ranked))) as axes:
        for row, one in enumerate(ranked):
            ends = [end for end in (one.low, one.high) if end is not None]
            axes.plot(ends, [row] * len(ends), "|-", color=COLOURS[0], markersize=8)
            axes.plot([one.rating], [row], "o", color=COLOURS[0], markersize=5)
            axes.annotate(
                str(round(one.rating)),
                (max([*ends, one.rating]), row),
                xytext=(7, 0),
                textcoords="offset points",
                va="center",
                fontsize=9,
            )
        axes.margins(x=0.09)  # room for the numbers
        axes.set_yticks(range(len(ranked)), [shorten(one.name, MAX_NAME_COLUMNS) for one in ranked])
        axes.set_ylim(-0.6, len(ranked) - 0.4)
        axes.axvline(0, color=PALE, linewidth=1, zorder=0)
        axes.grid(axis="x", color=PALE, linewidth=0.6)
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel("rating (Elo scale, mean 0), with its 95 % interval")


def plot_curves(
    curves: Mapping[str, Sequence[tuple[int, float]]], file: str, *, ylabel: str = "score"
) -> None:
    """Draw learning curves: for each name, points of (games, score from 0 to 1)."""
    with _axes(file, (7.0, 4.2)) as axes:
        for number, (name, points) in enumerate(curves.items()):
            axes.plot(
                [games for games, _ in points],
                [score for _, score in points],
                color=COLOURS[number % len(COLOURS)],
                linestyle=DASHES[number // len(COLOURS) % len(DASHES)],
                linewidth=1.8,
                label=" " * name.startswith("_") + shorten(name, MAX_NAME_COLUMNS),
            )
        axes.set_ylim(-0.02, 1.02)
        axes.margins(x=0.01)
        axes.grid(color=PALE, linewidth=0.6)
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        axes.set_xlabel("games learned from")
        axes.set_ylabel(ylabel)
        if curves:
            axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1))


@contextmanager
def _axes(file: str, size: tuple[float, float]) -> Iterator[Axes]:
    """Yield axes to draw on, and write the figure to the file afterwards."""
    check_plot(file)
    with rc_context(), _silenced():
        rcdefaults()  # not the user's
        rcParams.update(_STYLE)
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots()
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_axisbelow(True)
        yield axes
        write_output(file, _render(figure, Path(file).suffix.lower()))


def _render(figure: Figure, extension: str) -> bytes:
    written = BytesIO()
    if extension == ".svg":
        figure.savefig(written, format="svg", metadata={"Date": None, "Creator": "noughts"})
    else:
        figure.savefig(written, format="png", dpi=150, metadata={"Software": "noughts"})
    return written.getvalue()
