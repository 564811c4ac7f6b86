"""Pictures for reports: ratings with their intervals, and learning curves, as SVG or PNG.

The same picture is the same bytes each time, and the words in an SVG are words.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from errno import EINVAL, EISDIR
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any
from warnings import catch_warnings, simplefilter

from matplotlib.axes import Axes
from matplotlib.typing import RcKeyType

from noughts.core.errors import complaint, quoted
from noughts.files import FileUnavailable, write_output
from noughts.lab.errors import BadFormat, BadSetting
from noughts.lab.ratings import Rating
from noughts.lab.tournament import cut


@contextmanager
def _quietly() -> Iterator[None]:
    """Let matplotlib say nothing of its own: a bad setting of somebody's is not used here anyway."""
    logger = logging.getLogger("matplotlib")
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        with catch_warnings():
            simplefilter("ignore")  # a letter that the font does not have is drawn as a box
            yield
    finally:
        logger.setLevel(before)


@contextmanager
def _unsettled() -> Iterator[None]:
    """Let nobody's settings be read: matplotlib does that when it is imported, and may fail at it."""
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


with _unsettled(), _quietly():
    try:
        from matplotlib import rc_context, rcdefaults, rcParams
        from matplotlib.figure import Figure
        from matplotlib.ticker import StrMethodFormatter
    except (OSError, ValueError) as error:  # a file of settings in this folder that is no text, say
        raise BadSetting(f"matplotlib cannot read its settings: {complaint(error)}") from error

ENDINGS = ".svg", ".png"
INK, PALE = "#222222", "#d9d9d9"
COLOURS = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"
"""Those of Okabe and Ito, which nearly everybody can tell apart."""
DASHES = "-", "--", ":", "-."
LONGEST_NAME = 32
_STYLE: dict[RcKeyType, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "noughts",
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "figure.constrained_layout.h_pad": 0.1,
    "figure.constrained_layout.w_pad": 0.1,
    "text.parse_math": False,  # a dollar sign in a name is a dollar sign
    "axes.unicode_minus": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


def check_plot(file: str) -> None:
    """Refuse a file that is no picture by its name, or that cannot be written."""
    if Path(file).name.lower() in ENDINGS:
        raise BadFormat(f"{quoted(file)} is an ending without a name: a plot is called plot.svg, say")
    if not file.lower().endswith(ENDINGS):
        raise BadFormat(f"{quoted(file)} ends in neither .svg nor .png, and a plot is one of them")
    try:
        path = Path(file).resolve()
        _check_plain(path)
        with TemporaryFile(dir=path.parent):
            pass
    except (OSError, RuntimeError) as error:  # a link to itself is a RuntimeError, for a while
        why = getattr(error, "strerror", "it is a link to itself")
        raise FileUnavailable(f"{file} cannot be written: {why}") from error


def _check_plain(path: Path) -> None:
    """Refuse a folder, and a pipe or a device: nobody may be there to read it."""
    if path.is_dir():
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
    if path.exists() and not path.is_file():
        raise OSError(EINVAL, "it is no plain file")


def plot_ratings(ratings: Sequence[Rating], file: str) -> None:
    """Draw a dot for each bot, the best on top, and its interval as a line through it."""
    ranked = sorted(ratings, key=lambda one: one.rating)
    with _drawn(file, (7.0, 1.3 + 0.36 * len(ranked))) as axes:
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
        axes.margins(x=0.09)  # there is room for the numbers
        axes.set_yticks(range(len(ranked)), [cut(one.name, LONGEST_NAME) for one in ranked])
        axes.set_ylim(-0.6, len(ranked) - 0.4)
        axes.axvline(0, color=PALE, linewidth=1, zorder=0)
        axes.grid(axis="x", color=PALE, linewidth=0.6)
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel("rating (Elo scale, mean 0), with its 95 % interval")


def plot_curves(
    curves: Mapping[str, Sequence[tuple[int, float]]],
    file: str,
    *,
    xlabel: str = "games learned from",
    ylabel: str = "score",
) -> None:
    """Draw learning curves: for each name, after how many games which score, from 0 to 1."""
    with _drawn(file, (7.0, 4.2)) as axes:
        for number, (name, points) in enumerate(curves.items()):
            axes.plot(
                [games for games, _ in points],
                [score for _, score in points],
                color=COLOURS[number % len(COLOURS)],
                linestyle=DASHES[number // len(COLOURS) % len(DASHES)],
                linewidth=1.8,
                label=" " * name.startswith("_") + cut(name, LONGEST_NAME),
            )
        axes.set_ylim(-0.02, 1.02)
        axes.margins(x=0.01)
        axes.grid(color=PALE, linewidth=0.6)
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        if curves:
            axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1))


@contextmanager
def _drawn(file: str, size: tuple[float, float]) -> Iterator[Axes]:
    """Lend something to draw on, and write into the file what was drawn."""
    check_plot(file)
    with rc_context(), _quietly():
        rcdefaults()  # whatever somebody's own settings are
        rcParams.update(_STYLE)
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots()
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_axisbelow(True)
        yield axes
        write_output(file, _picture(figure, Path(file).suffix.lower()))


def _picture(figure: Figure, ending: str) -> bytes:
    written = BytesIO()
    if ending == ".svg":
        figure.savefig(written, format="svg", metadata={"Date": None, "Creator": "noughts"})
    else:
        figure.savefig(written, format="png", dpi=150, metadata={"Software": "noughts"})
    return written.getvalue()
