"""Plots: readable, with all names in them, and reproducible."""

from __future__ import annotations

import os
import re
import struct
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from noughts.core.errors import quoted
from noughts.files import FileUnavailable
from noughts.lab.errors import BadFormat
from noughts.lab.plots import check_plot, plot_curves, plot_ratings
from noughts.lab.ratings import Rating
from support.at_once import run_code
from support.command import environment
from support.forked import noughts

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
    if what == "ratings":
        plot_ratings(RATINGS, str(file))
    else:
        plot_curves(CURVES, str(file), ylabel="score against random")


def words(file: Path) -> list[str]:
    """Return all texts in an SVG, in drawing order."""
    return ["".join(text.itertext()).strip() for text in ET.parse(file).iter(f"{SVG}text")]  # noqa: S314 - our own


@pytest.mark.parametrize("what", ["ratings", "curves"])
def test_text_in_an_svg_is_text(what: str, tmp_path: Path) -> None:
    draw(what, tmp_path / "plot.svg")

    assert ET.parse(tmp_path / "plot.svg").getroot().tag == f"{SVG}svg"  # noqa: S314 - our own file
    axes = {
        "ratings": {
            "rating (Elo scale, mean 0), with its 95 % interval",
            "-200",
            "-100",
            "0",
            "100",
            "200",
        },
        "curves": {"games learned from", "score against random", "1,000"},
    }
    assert {*SHOWN} | axes[what] <= {*words(tmp_path / "plot.svg")}


@pytest.mark.parametrize("what", ["ratings", "curves"])
def test_a_png_has_a_reasonable_size(what: str, tmp_path: Path) -> None:
    draw(what, tmp_path / "plot.PNG")

    content = (tmp_path / "plot.PNG").read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", content[16:24])
    assert width == 1050
    assert 300 < height < 800
    assert 5_000 < len(content) < 200_000


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_plots_are_reproducible(ending: str, tmp_path: Path) -> None:
    plot_ratings(RATINGS, str(tmp_path / f"one.{ending}"))
    plot_ratings(RATINGS, str(tmp_path / f"two.{ending}"))

    assert (tmp_path / f"one.{ending}").read_bytes() == (tmp_path / f"two.{ending}").read_bytes()
    assert [path.name for path in sorted(tmp_path.iterdir())] == [f"one.{ending}", f"two.{ending}"]


def test_the_best_is_on_top(tmp_path: Path) -> None:
    plot_ratings(RATINGS, str(tmp_path / "one.svg"))
    plot_ratings(RATINGS[::-1], str(tmp_path / "two.svg"))

    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    names = [word for word in words(tmp_path / "one.svg") if word in SHOWN]
    assert names == [*SHOWN]  # from below


def test_without_games_there_is_no_interval(tmp_path: Path) -> None:
    plot_ratings(
        [Rating("known", 10, 5, 15), Rating("unknown", 0, None, None)], str(tmp_path / "one.svg")
    )
    plot_ratings([Rating("known", 10, 5, 15), Rating("unknown", 0, 0, 0)], str(tmp_path / "two.svg"))

    assert {"known", "unknown", "0", "10"} <= {*words(tmp_path / "one.svg")}
    one, two = (len((tmp_path / name).read_text()) for name in ("one.svg", "two.svg"))
    assert one < two


def test_user_settings_are_ignored(tmp_path: Path) -> None:
    (tmp_path / "matplotlibrc").write_text("nonsense\nno.such.key: 1\n")
    script = (
        "import os\n"
        "from noughts.lab.plots import plot_curves\n"
        "plot_curves({'a': [(0, 0.5)]}, 'plot.svg')\n"
        "print(os.environ['MPLBACKEND'])\n"
    )
    bad = {"MPLBACKEND": "nonesuch", "MATPLOTLIBRC": "/none/such", "XDG_CONFIG_HOME": "/dev/null"}

    ran = run_code(script, cwd=tmp_path, env=os.environ | bad)

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "nonesuch\n", "")
    assert (tmp_path / "plot.svg").exists()


def test_few_and_many_curves_and_long_names_are_drawn(tmp_path: Path) -> None:
    plot_curves({}, str(tmp_path / "none.svg"))
    plot_curves({str(number): [(0, 0.5)] for number in range(9)}, str(tmp_path / "many.svg"))
    plot_ratings([Rating("x" * 100, 0, 0, 0), Rating("y" * 32, 0, 0, 0)], str(tmp_path / "long.svg"))

    assert len(words(tmp_path / "many.svg")) > 9
    assert {"x" * 31 + "…", "y" * 32} <= {*words(tmp_path / "long.svg")}


@pytest.mark.parametrize(
    "file", ["", "plot", "plot.gif", "plot.svg.gz", "png", "plot.svg/", ".svg", "a/.PNG"]
)
def test_a_file_name_without_a_known_extension_is_refused(file: str, tmp_path: Path) -> None:
    why = "does not end in .svg or .png, the formats of a plot"
    if file in (".svg", "a/.PNG"):
        why = "has no name before its extension: use a name such as plot.svg"
    place = f"{tmp_path}/{file}" if file else file
    with pytest.raises(BadFormat, match=f"^{re.escape(f'{quoted(place)} {why}')}$"):
        check_plot(place)


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.svg").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "link.svg").symlink_to("link.svg")
    os.mkfifo(tmp_path / "pipe.svg")
    (tmp_path / "device.svg").symlink_to("/dev/null")
    for file, why in (
        ("folder.svg", "Is a directory"),
        ("none/plot.svg", "No such file or directory"),
        ("file/plot.svg", "Not a directory"),
        ("pipe.svg", "it is not a regular file"),
        ("device.svg", "it is not a regular file"),
    ):
        with pytest.raises(FileUnavailable) as refused:
            check_plot(str(tmp_path / file))
        assert str(refused.value) == f"{tmp_path / file} cannot be written: {why}"
    with pytest.raises(FileUnavailable, match=r"a link to itself|levels of symbolic links"):
        check_plot(str(tmp_path / "link.svg"))


def test_a_failing_plot_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plot.svg").write_text("before")

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", interrupted)
    with pytest.raises(KeyboardInterrupt):
        plot_ratings(RATINGS, str(tmp_path / "plot.svg"))

    assert [path.name for path in tmp_path.iterdir()] == ["plot.svg"]
    assert (tmp_path / "plot.svg").read_text() == "before"


def test_menace_train_plots_its_learning_curve(tmp_path: Path) -> None:
    env = environment(XDG_DATA_HOME=str(tmp_path), HOME=str(tmp_path))
    ran = noughts(
        "menace", "train", "--games", "40", "--seed", "1", "--plot", "curve.svg", env=env, cwd=tmp_path
    )

    assert (ran.returncode, ran.stderr) == (0, "")
    assert "40 games as X against random" in ran.stdout
    drawn = (tmp_path / "curve.svg").read_text()
    assert all(f">{word}<" in drawn for word in ("wins", "draws", "loses", "games learned from"))


def test_a_bad_plot_name_is_refused_before_training(tmp_path: Path) -> None:
    env = environment(XDG_DATA_HOME=str(tmp_path), HOME=str(tmp_path))
    ran = noughts("menace", "train", "--plot", "curve.txt", env=env, cwd=tmp_path)

    assert (ran.returncode, ran.stdout) == (2, "")
    assert "'curve.txt' does not end in .svg or .png" in ran.stderr
    assert not (tmp_path / "noughts").exists()
