"""Plots: pictures that can be read, with all names in them, and the same bytes each time."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from noughts.files import FileUnavailable
from noughts.lab.errors import BadFormat
from noughts.lab.plots import check_plot, plot_curves, plot_ratings
from noughts.lab.ratings import Rating
from support.command import environment
from support.forked import noughts

if TYPE_CHECKING:
    from pathlib import Path

SVG = "{http://www.w3.org/2000/svg}"
NAMES = "perfect", "club <&> $x$", "program:\x1b[2J", "三目並べ", "_random"
SHOWN = "perfect", "club <&> $x$", r"program:\x1b[2J", "三目並べ", "_random"
RATINGS = [
    Rating(name, 100.0 * number, 100.0 * number - 20, 100.0 * number + 30)
    for number, name in enumerate(NAMES, -2)
]
CURVES = {
    name: [(games, games / (1000 + 200 * number)) for games in range(0, 1001, 100)]
    for number, name in enumerate(NAMES)
}


def draw(what: str, file: Path) -> None:
    """Draw ratings, or curves."""
    if what == "ratings":
        plot_ratings(RATINGS, str(file))
    else:
        plot_curves(CURVES, str(file))


def words(file: Path) -> list[str]:
    """Return all words in an SVG, from top to bottom as they were drawn."""
    return ["".join(text.itertext()).strip() for text in ET.parse(file).iter(f"{SVG}text")]  # noqa: S314 - our own


@pytest.mark.parametrize("what", ["ratings", "curves"])
def test_an_svg_is_xml_in_which_names_are_words(what: str, tmp_path: Path) -> None:
    """Control characters, which XML has no letters for, are shown as such."""
    draw(what, tmp_path / "plot.svg")

    assert ET.parse(tmp_path / "plot.svg").getroot().tag == f"{SVG}svg"  # noqa: S314 - our own
    assert {*SHOWN} <= {*words(tmp_path / "plot.svg")}


@pytest.mark.parametrize("what", ["ratings", "curves"])
def test_a_png_is_one_of_a_sane_size(what: str, tmp_path: Path) -> None:
    """Large enough to print, and small enough to send."""
    draw(what, tmp_path / "plot.PNG")

    content = (tmp_path / "plot.PNG").read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", content[16:24])
    assert width == 1050
    assert 300 < height < 800
    assert 5_000 < len(content) < 200_000


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_the_same_plot_is_the_same_bytes(ending: str, tmp_path: Path) -> None:
    """It knows no time, no luck, and not where it lies."""
    plot_ratings(RATINGS, str(tmp_path / f"one.{ending}"))
    plot_ratings(RATINGS, str(tmp_path / f"two.{ending}"))

    assert (tmp_path / f"one.{ending}").read_bytes() == (tmp_path / f"two.{ending}").read_bytes()
    assert [path.name for path in sorted(tmp_path.iterdir())] == [f"one.{ending}", f"two.{ending}"]


def test_axes_say_what_they_show(tmp_path: Path) -> None:
    """And each rating stands beside its dot."""
    plot_ratings(RATINGS, str(tmp_path / "ratings.svg"))
    plot_curves(CURVES, str(tmp_path / "curves.svg"), ylabel="score against random")

    assert "rating (Elo scale, mean 0), with its 95 % interval" in words(tmp_path / "ratings.svg")
    assert {"-200", "-100", "0", "100", "200"} <= {*words(tmp_path / "ratings.svg")}
    assert {"games learned from", "score against random", "1,000"} <= {*words(tmp_path / "curves.svg")}


def test_the_best_stands_on_top(tmp_path: Path) -> None:
    """In whatever order they come."""
    plot_ratings(RATINGS, str(tmp_path / "one.svg"))
    plot_ratings(RATINGS[::-1], str(tmp_path / "two.svg"))

    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    names = [word for word in words(tmp_path / "one.svg") if word in SHOWN]
    assert names == [*SHOWN]  # from below


def test_long_names_are_cut(tmp_path: Path) -> None:
    """There has to be room for the picture."""
    plot_ratings([Rating("x" * 100, 0, 0, 0), Rating("y" * 32, 0, 0, 0)], str(tmp_path / "plot.svg"))

    assert {"x" * 31 + "…", "y" * 32} <= {*words(tmp_path / "plot.svg")}


def test_where_nothing_is_known_there_is_no_bar(tmp_path: Path) -> None:
    """Only a dot, and its number."""
    plot_ratings(
        [Rating("known", 10, 5, 15), Rating("unknown", 0, None, None)], str(tmp_path / "one.svg")
    )
    plot_ratings([Rating("known", 10, 5, 15), Rating("unknown", 0, 0, 0)], str(tmp_path / "two.svg"))

    assert {"known", "unknown", "0", "10"} <= {*words(tmp_path / "one.svg")}
    one, two = (len((tmp_path / name).read_text()) for name in ("one.svg", "two.svg"))
    assert one < two


def test_nobodys_settings_are_in_the_way(tmp_path: Path) -> None:
    """Not a backend that there is none of, a bad file, or a folder that is none; and nothing is said."""
    (tmp_path / "matplotlibrc").write_text("nonsense\nno.such.key: 1\n")
    script = (
        "import os\n"
        "from noughts.lab.plots import plot_curves\n"
        "plot_curves({'a': [(0, 0.5)]}, 'plot.svg')\n"
        "print(os.environ['MPLBACKEND'])\n"
    )
    bad = {"MPLBACKEND": "nonesuch", "MATPLOTLIBRC": "/none/such", "XDG_CONFIG_HOME": "/dev/null"}

    ran = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env=os.environ | bad,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "nonesuch\n", "")
    assert (tmp_path / "plot.svg").exists()


def test_there_may_be_nothing_to_draw(tmp_path: Path) -> None:
    """And more curves than there are colours."""
    plot_curves({}, str(tmp_path / "none.svg"))
    plot_curves({str(number): [(0, 0.5)] for number in range(9)}, str(tmp_path / "many.svg"))

    assert len(words(tmp_path / "many.svg")) > 9


@pytest.mark.parametrize("file", ["", "plot", "plot.gif", "plot.svg.gz", "png", "plot.svg/"])
def test_what_is_no_picture_by_its_name_is_refused(file: str, tmp_path: Path) -> None:
    """There are two kinds."""
    with pytest.raises(BadFormat, match=r"does not end in \.svg or \.png"):
        check_plot(f"{tmp_path}/{file}" if file else file)


@pytest.mark.parametrize("file", [".svg", "plots/.PNG"])
def test_an_ending_is_no_name(file: str) -> None:
    """It would be a hidden file, of no kind."""
    with pytest.raises(
        BadFormat, match=f"'{file}' has no name before its extension: use a name such as plot.svg"
    ):
        check_plot(file)


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_is_no_plain_file_is_refused(kind: str, tmp_path: Path) -> None:
    """Nobody may be there to read it, and then it would wait for ever."""
    file = tmp_path / "plot.svg"
    if kind == "pipe":
        os.mkfifo(file)
    else:
        file.symlink_to("/dev/null")

    with pytest.raises(FileUnavailable) as refused:
        check_plot(str(file))
    assert str(refused.value) == f"{file} cannot be written: it is not a regular file"


def test_a_place_that_cannot_be_written_to_is_refused(tmp_path: Path) -> None:
    """A folder, a folder that is not there, a file that is none, a link to itself."""
    (tmp_path / "folder.svg").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "link.svg").symlink_to("link.svg")
    for file, why in (
        ("folder.svg", "Is a directory"),
        ("none/plot.svg", "No such file or directory"),
        ("file/plot.svg", "Not a directory"),
    ):
        with pytest.raises(FileUnavailable) as refused:
            check_plot(str(tmp_path / file))
        assert str(refused.value) == f"{tmp_path / file} cannot be written: {why}"
    with pytest.raises(FileUnavailable, match=r"a link to itself|levels of symbolic links"):
        check_plot(str(tmp_path / "link.svg"))


def test_a_plot_that_fails_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither half a file nor a trace of one."""
    (tmp_path / "plot.svg").write_text("before")

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", interrupted)
    with pytest.raises(KeyboardInterrupt):
        plot_ratings(RATINGS, str(tmp_path / "plot.svg"))

    assert [path.name for path in tmp_path.iterdir()] == ["plot.svg"]
    assert (tmp_path / "plot.svg").read_text() == "before"


def test_the_machine_s_learning_curve_is_drawn_from_exact_odds(tmp_path: Path) -> None:
    """By the command that trains it; what it wins, draws and loses, to the last game."""
    env = environment(XDG_DATA_HOME=str(tmp_path), HOME=str(tmp_path))
    ran = noughts(
        "menace", "train", "--games", "40", "--seed", "1", "--plot", "curve.svg", env=env, cwd=tmp_path
    )

    assert (ran.returncode, ran.stderr) == (0, "")
    assert "40 games as X against random" in ran.stdout
    drawn = (tmp_path / "curve.svg").read_text()
    assert all(f">{word}<" in drawn for word in ("wins", "draws", "loses", "games learned from"))


def test_a_curve_that_cannot_be_drawn_is_told_of_before_anything_is_learned(tmp_path: Path) -> None:
    """And no machine is made for it."""
    env = environment(XDG_DATA_HOME=str(tmp_path), HOME=str(tmp_path))
    ran = noughts("menace", "train", "--plot", "curve.txt", env=env, cwd=tmp_path)

    assert (ran.returncode, ran.stdout) == (2, "")
    assert "'curve.txt' does not end in .svg or .png" in ran.stderr
    assert not (tmp_path / "noughts").exists()
