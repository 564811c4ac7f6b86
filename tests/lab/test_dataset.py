"""The dataset: every position in three formats, held against each other and against second opinions."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from errno import ENOSPC
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyarrow import parquet  # type: ignore[import-untyped]  # it has no types

from noughts.analysis.coach import advise
from noughts.analysis.solver import prospect
from noughts.core.board import reachable
from noughts.core.errors import NotInstalled
from noughts.files import FileUnavailable, write_output
from noughts.lab import dataset
from noughts.lab.dataset import (
    MOVE_COLUMNS,
    POSITION_COLUMNS,
    as_csv,
    as_jsonl,
    as_parquet,
    rows,
    write_dataset,
)
from noughts.lab.errors import BadFormat
from support.command import COMMAND, environment, noughts
from support.pseudo_terminal import in_terminal
from support.reference import reasons as plain_reasons, symmetry as plain_symmetry

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Never

    from noughts.lab.dataset import Row

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "dataset.md").read_text()
SCORES = {"win": 1, "draw": 0, "loss": -1}
WRITERS = {"csv": as_csv, "jsonl": as_jsonl, "parquet": as_parquet}


@pytest.fixture(scope="session")
def table() -> list[Row]:
    """Return all rows, made once."""
    return [*rows()]


@pytest.fixture
def short(table: list[Row], monkeypatch: pytest.MonkeyPatch) -> list[Row]:
    """Let the dataset have its first rows only, where it matters how they are written and not what."""
    first = table[:20]
    monkeypatch.setattr(dataset, "rows", lambda: first)
    return first


def alone(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the command with Python's own library, and with no other package."""
    return subprocess.run(
        [sys.executable, "-S", "-m", "noughts", "dataset", *arguments],
        capture_output=True,
        env=environment(PYTHONPATH=str(ROOT / "src"), PYTHONHASHSEED="1"),
        cwd=folder,
        timeout=60,
        text=True,
        check=False,
    )


# What it says


def test_there_is_a_row_for_each_position_at_its_number(table: list[Row]) -> None:
    """All 5,478 of them, and it says how the position stands."""
    boards = reachable()

    assert len(table) == len(boards) == 5478
    for number, (row, board) in enumerate(zip(table, boards, strict=True)):
        signs = row["board"].replace("/", "")
        assert [*row] == [*POSITION_COLUMNS, *MOVE_COLUMNS]
        assert row["position"] == number
        assert row["board"] == str(board)
        assert row["x"] == sum(1 << cell for cell in range(9) if signs[cell] == "X")
        assert row["o"] == sum(1 << cell for cell in range(9) if signs[cell] == "O")
        assert row["tokens"] == 9 - signs.count("_")
        assert row["turn"] == ("X" if signs.count("X") == signs.count("O") else "O")
        assert row["is_over"] is plain_reasons.is_over(signs)
        assert (row["winner"] or "") == plain_reasons.winner(signs)


def test_positions_are_in_one_class_exactly_when_they_are_images(table: list[Row]) -> None:
    """There are 765, counted as they come up, and one position of each stands for it."""
    classes: dict[str, int] = {}
    for row in table:
        signs = row["board"].replace("/", "")
        number = classes.setdefault(plain_symmetry.box_of(signs), len(classes))
        assert row["symmetry_class"] == number
        assert row["canonical"].replace("/", "") in plain_symmetry.images(signs)

    assert len(classes) == len({row["canonical"] for row in table}) == 765


def test_positions_and_moves_are_worth_what_a_second_opinion_says(table: list[Row]) -> None:
    """Value, distance, the best moves and every reason, of all 16,167 moves."""
    moves = 0
    for row in table:
        signs, mark = row["board"].replace("/", ""), row["turn"]
        assert (row["score"], row["distance"]) == plain_reasons.end(signs, mark)
        assert SCORES[row["value"]] == row["score"]
        free = [] if row["is_over"] else plain_reasons.free(signs)
        moves += len(free)
        for cell in range(9):
            found = [row[name][cell] for name in MOVE_COLUMNS]
            if cell not in free:
                assert found == [None] * 5
                continue
            value, score, distance, best, reasons = found
            assert (score, distance) == plain_reasons.ends(signs, mark)[cell]
            assert SCORES[value] == score
            assert best is (cell in plain_reasons.best(signs, mark))
            assert reasons == plain_reasons.kinds(signs, mark, cell)

    assert moves == 16_167


def test_positions_and_moves_are_worth_what_solver_and_coach_say(table: list[Row]) -> None:
    """Of each position itself, although the dataset asks once a class."""
    for row, board in zip(table, reachable(), strict=True):
        worth = prospect(board)
        assert (row["value"], row["distance"]) == (str(worth.result), worth.distance)
        advised = {advice.cell: advice for advice in advise(board)}
        for cell in range(9):
            advice = advised.get(cell)
            assert [row[name][cell] for name in MOVE_COLUMNS if name != "move_score"] == (
                [
                    str(advice.prospect.result),
                    advice.prospect.distance,
                    advice.is_best,
                    [str(reason.kind) for reason in advice.reasons],
                ]
                if advice
                else [None] * 4
            )


def test_a_finished_position_has_no_moves(table: list[Row]) -> None:
    """All 958 of them; and any other has as many as there are free cells."""
    for row in table:
        expected = 0 if row["is_over"] else 9 - row["tokens"]
        for name in MOVE_COLUMNS:
            assert len(row[name]) == 9
            assert sum(entry is not None for entry in row[name]) == expected

    assert sum(row["is_over"] for row in table) == 958


# Its three formats


def read_csv(written: bytes) -> list[Row]:
    """Read rows back from a spreadsheet, by the types of their columns."""
    kinds: dict[str, Callable[[str], Any]] = {
        "int8": int,
        "int16": int,
        "string": str,
        "bool": {"true": True, "false": False}.__getitem__,
        "list<string>": str.split,
    }

    def entry(text: str, kind: str) -> object:
        return kinds[kind](text) if text else None

    return [
        {name: entry(line[name], kind) for name, kind in POSITION_COLUMNS.items()}
        | {
            name: [entry(line[f"{name}_{cell}"], kind) for cell in range(9)]
            for name, kind in MOVE_COLUMNS.items()
        }
        for line in csv.DictReader(written.decode().splitlines())
    ]


def test_csv_says_the_same(table: list[Row]) -> None:
    """Every entry of every row is read back from its own column."""
    written = as_csv(table)

    assert read_csv(written) == table
    lines = [*csv.reader(written.decode().splitlines())]
    assert {len(line) for line in lines} == {58}
    assert len(lines) == 1 + 5478
    assert b"\r" not in written


def test_json_lines_say_the_same(table: list[Row]) -> None:
    """An object a line, with its columns in order."""
    written = as_jsonl(table)

    read = [json.loads(line) for line in written.splitlines()]
    assert read == table
    assert [*read[0]] == [*POSITION_COLUMNS, *MOVE_COLUMNS]


def test_parquet_says_the_same(table: list[Row]) -> None:
    """With the types that the page names."""
    read = parquet.read_table(BytesIO(as_parquet(table)))

    assert read.to_pylist() == table
    types = {field.name: str(field.type).replace("element: ", "") for field in read.schema}
    assert types == documented()


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_csv_and_json_lines_need_no_package_and_are_the_same_bytes(
    form: str, table: list[Row], tmp_path: Path
) -> None:
    """Another process, with neither NumPy nor any other package, writes what is written here."""
    ran = alone(f"all.{form}", folder=tmp_path)

    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("Wrote 5,478 positions to ")
    assert (tmp_path / f"all.{form}").read_bytes() == WRITERS[form](table)


def test_parquet_goes_through_a_pipe_and_is_the_same_bytes(table: list[Row]) -> None:
    """Another process writes what is written here."""
    ran = subprocess.run(
        [*COMMAND, "dataset", "--format", "parquet"],
        capture_output=True,
        env=environment(PYTHONHASHSEED="1"),
        timeout=60,
        check=True,
    )

    assert ran.stdout == as_parquet(table)


# The page about it


def documented() -> dict[str, str]:
    """Return the columns that the page lists, and their types."""
    return dict(re.findall(r"^\| `(\w+)` \| `([\w<>]+)` \| ", PAGE, re.MULTILINE))


def test_the_page_lists_every_column_in_order() -> None:
    """With its type."""
    nines = {name: f"list<{kind}>" for name, kind in MOVE_COLUMNS.items()}

    assert [*documented().items()] == [*(POSITION_COLUMNS | nines).items()]


def test_the_page_shows_a_row_as_it_is(table: list[Row]) -> None:
    """To the letter, as JSON goes."""
    shown = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)

    row = json.loads(shown[0])
    assert row == table[row["position"]]


# Where it goes


@pytest.mark.parametrize(
    ("name", "asked", "form"),
    [
        ("all.csv", None, "csv"),
        ("all.jsonl", None, "jsonl"),
        ("all.parquet", None, "parquet"),
        ("ALL.CSV", None, "csv"),
        ("all.csv", "jsonl", "jsonl"),
        ("all", "csv", "csv"),
    ],
)
def test_the_format_is_what_was_asked_for_or_what_the_name_says(
    name: str, asked: str | None, form: str, short: list[Row], tmp_path: Path
) -> None:
    """An option counts for more than a name."""
    out = BytesIO()

    write_dataset(str(tmp_path / name), asked, out)

    assert (tmp_path / name).read_bytes() == WRITERS[form](short)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert out.getvalue().decode() == f"Wrote {len(short):,} positions to {tmp_path / name}.\n"


def test_without_a_file_it_is_written_out_as_csv(short: list[Row]) -> None:
    """Or in the format that is asked for."""
    for asked, form in ((None, "csv"), ("jsonl", "jsonl"), ("parquet", "parquet")):
        out = BytesIO()
        write_dataset(None, asked, out)
        assert out.getvalue() == WRITERS[form](short)


@pytest.mark.parametrize("name", ["all.txt", "all", ".csv", "all.csv.gz", "all.\x1b[2J"])
def test_a_name_that_says_no_format_is_refused(name: str, tmp_path: Path) -> None:
    """In a sentence that says what would; and nothing is written."""
    with pytest.raises(BadFormat, match=r"does not end in \.csv, \.jsonl or \.parquet"):
        write_dataset(str(tmp_path / name), None, BytesIO())

    assert [*tmp_path.iterdir()] == []


def test_the_command_refuses_such_a_name_as_bad_usage(tmp_path: Path) -> None:
    """With exit code 2."""
    ran = noughts("dataset", "all.txt", cwd=tmp_path)

    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == (
        "noughts: 'all.txt' does not end in .csv, .jsonl or .parquet: name it so, or use --format\n"
    )
    assert [*tmp_path.iterdir()] == []


def test_parquet_is_not_written_to_a_terminal() -> None:
    """It would be obeyed there, and not read."""
    with in_terminal("dataset", "--format", "parquet") as session:
        assert session.end() == 2

    assert session.output.decode().strip() == (
        "noughts: Parquet is binary: name a file, or redirect the output with >"
    )


# Where packages are missing


def test_without_pyarrow_it_is_told_how_to_get_it(tmp_path: Path) -> None:
    """And what does without."""
    ran = alone("all.parquet", folder=tmp_path)

    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == (
        "noughts: Parquet needs 'pyarrow', which is not installed: "
        "pip install pyarrow, or use csv or jsonl\n"
    )
    assert [*tmp_path.iterdir()] == []


def test_whatever_keeps_pyarrow_from_loading_is_told_as_that(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library says it by its own error."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    with pytest.raises(NotInstalled, match="pip install pyarrow"):
        as_parquet([])


# When it cannot be written


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("folder", "Is a directory"),
        ("new.csv/", "Is a directory"),
        ("nowhere/all.csv", "No such file or directory"),
        ("file/all.csv", "Not a directory"),
        ("loop", "Too many levels of symbolic links"),
        (f"{'long' * 100}.csv", "File name too long"),
        ("/dev/full", "No space left on device"),
    ],
)
def test_a_place_that_cannot_be_written_to_is_told_of(place: str, why: str, tmp_path: Path) -> None:
    """In a sentence that names it, and nothing else is there afterwards."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("a file is no folder")
    (tmp_path / "loop").symlink_to("loop")
    before = sorted(tmp_path.rglob("*"))
    file = os.path.join(tmp_path, place)  # noqa: PTH118 - a path keeps no last slash

    with pytest.raises(FileUnavailable, match=f"^{re.escape(file)} cannot be written: .*{why}"):
        write_output(file, b"all of it")

    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / "file").read_text() == "a file is no folder"


def test_a_file_that_may_not_grow_is_not_written_by_half(tmp_path: Path) -> None:
    """The kernel itself keeps the limit; what was there before stays."""
    (tmp_path / "all.csv").write_text("before")
    script = (
        "import resource\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "from noughts.files import write_output\n"
        "write_output('all.csv', bytes(100_000))\n"
    )

    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert "FileUnavailable: all.csv cannot be written: File too large" in ran.stderr
    assert [path.read_text() for path in tmp_path.iterdir()] == ["before"]


@pytest.mark.parametrize("ending", [OSError(ENOSPC, "the disk is full"), KeyboardInterrupt()])
def test_an_end_in_the_middle_leaves_nothing_half_written(
    ending: BaseException, short: list[Row], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the disk is full or somebody presses Ctrl-C: there is what there was."""

    def end(_number: int) -> Never:
        raise ending

    (tmp_path / "old.csv").write_text("before")
    monkeypatch.setattr(os, "fsync", end)

    for name in ("old.csv", "new.csv"):
        with pytest.raises((FileUnavailable, KeyboardInterrupt)):
            write_dataset(str(tmp_path / name), None, BytesIO())

    assert short
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"old.csv": "before"}


def test_a_file_that_is_replaced_keeps_its_rights_and_its_links(tmp_path: Path) -> None:
    """What a link leads to is replaced, and not the link."""
    file, link = tmp_path / "all.csv", tmp_path / "link.csv"
    file.write_text("before")
    file.chmod(0o640)
    link.symlink_to(file)

    write_output(str(link), b"after")

    assert file.read_bytes() == b"after"
    assert file.stat().st_mode & 0o777 == 0o640
    assert link.is_symlink()


def test_a_reader_who_has_gone_is_nobodys_failure() -> None:
    """As elsewhere: the command knows that one."""
    reading, writing = os.pipe()
    os.close(reading)

    with pytest.raises(BrokenPipeError):
        write_output(f"/dev/fd/{writing}", b"all of it")
    os.close(writing)


def test_a_pipe_is_written_to() -> None:
    """As a shell offers one under the name of a file."""
    reading, writing = os.pipe()

    write_output(f"/dev/fd/{writing}", b"all of it")
    os.close(writing)

    with open(reading, "rb") as pipe:  # noqa: PTH123 - a pipe has no path
        assert pipe.read() == b"all of it"
