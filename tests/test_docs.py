"""The docs: examples run, and tables, links and commands match the project."""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import get_args

import pytest

import noughts
from noughts.core.value import Value
from support.command import environment, noughts as run_noughts
from support.web.serving import Server

ROOT = Path(__file__).parent.parent
SERVED = "http://127.0.0.1:8000"
"""Where the README has a server; here it is somewhere else."""
README = (ROOT / "README.md").read_text()
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(language: str) -> list[str]:
    """Return the code blocks of the README in a language."""
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def commands(program: str) -> list[str]:
    """Return the lines of the README that run a program."""
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    return [line for line in lines if line.split()[0] == program]


def make(*arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    """Run make in the project, with the tests' interpreter."""
    return subprocess.run(
        ["make", "--no-print-directory", f"PYTHON={sys.executable}", *arguments],  # noqa: S607 - the user's make
        cwd=ROOT,
        input=typed,
        capture_output=True,
        text=True,
        env=environment(),
        check=False,
    )


@pytest.mark.parametrize("page", ["README.md", "docs/reference.md"])
def test_the_code_on_a_page_works(page: str) -> None:
    failed, tried = doctest.testfile(str(ROOT / page), module_relative=False)

    assert tried > 3
    assert failed == 0


def test_the_reference_shows_every_public_name() -> None:
    page = (ROOT / "docs" / "reference.md").read_text()
    code = " ".join(
        re.findall(r"`([^`\n]+)`", page) + re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    )

    missing = [name for name in noughts.__all__ if not re.search(rf"\b{name}\b", code)]
    assert missing == []


def test_the_reference_lists_the_fields_of_every_value() -> None:
    """In the bullet of its class; the fields of `Wording` are left to the code."""
    page = (ROOT / "docs" / "reference.md").read_text()
    bullets = dict(re.findall(r"^- `(\w+)`: (.*)$", page, re.MULTILINE))
    public = [getattr(noughts, name) for name in noughts.__all__]
    values = [
        one for one in public if isinstance(one, type) and issubclass(one, (Value, tuple, noughts.Board))
    ]
    values.remove(noughts.Wording)

    assert len(values) > 15
    for value in values:
        fields = [name for name in value.__annotations__ if not name.startswith("_")]
        properties = [name for name, it in vars(value).items() if isinstance(it, property)]
        missing = [name for name in fields + properties if f"`{name}`" not in bullets[value.__name__]]
        assert not missing, value


def test_the_reference_lists_every_event() -> None:
    page = (ROOT / "docs" / "reference.md").read_text()
    kinds = get_args(noughts.Event)

    signatures = {f"`{kind.__name__}({', '.join(kind.__annotations__)})`" for kind in kinds}
    assert len(signatures) == 13
    assert [one for one in signatures if one not in page] == []


def test_the_recipe_for_a_bot_names_every_place() -> None:
    """The files with a table that names a built-in bot are those in the recipe."""
    page = (ROOT / "CONTRIBUTING.md").read_text()
    recipe = next(line for line in page.splitlines() if line.startswith("- *A bot*"))
    source = ROOT / "src" / "noughts"

    tables = [file for file in source.rglob("*.py") if '"newell-simon":' in file.read_text()]
    assert tables
    assert [file for file in tables if f"`{file.relative_to(source)}`" not in recipe] == []


def test_the_readme_names_two_make_commands() -> None:
    assert commands("make") == ["make play", "make test"]


def test_make_play_starts_a_game() -> None:
    """Without a virtual environment."""
    ran = make("play", typed="5\n")

    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith(
        "1|2|3\n-+-+-\n4|5|6\n-+-+-\n7|8|9\nPlayer X, enter a position from 1 to 9:\n"
    )
    assert ran.stdout.endswith("Goodbye!\n")


def test_make_test_runs_these_tests() -> None:
    """A dry run, since this is one of them."""
    ran = make("--dry-run", "test")

    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.rstrip().endswith("-m pytest")


def test_the_commands_of_the_readme_work(tmp_path: Path) -> None:
    """In order, in an empty folder; with piped input, no pauses and fewer games."""
    home = environment(HOME=str(tmp_path), NOUGHTS_STORE="", XDG_DATA_HOME="")
    lines = commands("noughts")
    at_once = "--interval", "0"
    hurry = {"watch": at_once, "menace": ("--games", "9"), "simulate": ("--games", "100000")}

    with ExitStack() as serving:
        address = SERVED
        for line in lines:
            arguments = [word.replace(SERVED, address) for word in shlex.split(line, comments=True)[1:]]
            if arguments[0] == "serve":  # until the last command has run, at a port that is free
                store = f"sqlite:{tmp_path / 'served.sqlite'}"
                address = serving.enter_context(Server(store, *arguments[1:])).url
                continue
            ran = run_noughts(
                *arguments, *hurry.get(arguments[0], ()), typed="5\n", env=home, cwd=tmp_path
            )
            assert (ran.returncode, ran.stderr) == (0, ""), line
            assert ran.stdout, line

    assert len(lines) > 5


@pytest.mark.parametrize("block", blocks("console"))
def test_a_session_of_the_readme_matches_the_output(block: str) -> None:
    command, _, output = block.partition("\n")

    ran = run_noughts(*shlex.split(command)[2:])

    assert ran.stdout == output


def test_the_readme_installs_one_package(tmp_path: Path) -> None:
    assert "`pip install .`" in README
    install = [sys.executable, "-m", "pip", "install", "--no-build-isolation", "--no-index", "--quiet"]

    subprocess.run([*install, "--target", str(tmp_path), str(ROOT)], check=True, capture_output=True)

    packages = {path.name for path in tmp_path.iterdir()} - {"bin", "share"}
    assert packages == {"noughts", f"noughts-{noughts.__version__}.dist-info"}
    assert (tmp_path / "noughts" / "py.typed").exists()
    manual = tmp_path / "share" / "man" / "man1" / "noughts.1"
    assert manual.read_text() == (ROOT / "docs" / "noughts.1").read_text()


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            linked = page.parent / target
            assert linked.exists(), f"{page.name} links to {target}"
            assert linked.is_dir() or linked.stat().st_size > 100, f"{target} says nothing"


def test_the_changelog_knows_this_version() -> None:
    assert re.search(
        rf"^## {re.escape(noughts.__version__)} - \d{{4}}-\d\d-\d\d$",
        (ROOT / "CHANGELOG.md").read_text(),
        re.MULTILINE,
    )


def test_every_note_is_dated() -> None:
    notes = list((ROOT / "docs" / "notes").iterdir())

    assert notes
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d-[a-z-]+\.md", note.name) for note in notes)


def test_make_help_lists_every_target() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)) - {"python"}
    lines = re.findall(r"`make ([a-z -]+)`", (ROOT / "CONTRIBUTING.md").read_text())

    listed = set(re.findall(r"^([\w-]+) - ", make("help").stdout, re.MULTILINE))

    assert listed == targets
    assert {name for line in lines for name in line.split()} <= listed
