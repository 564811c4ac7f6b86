"""The dataset: every position in three formats, checked against a second implementation."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from errno import ENOSPC
from io import BytesIO
from pathlib import Path
from typing import Any, Never

import pytest
from pyarrow import parquet  # type: ignore[import-untyped]  # it has no types

from noughts import parse_board
from noughts.analysis.coach import advise
from noughts.analysis.solver import prospect
from noughts.cli.commands import dataset
from noughts.cli.commands.dataset import write_dataset
from noughts.core.board import reachable
from noughts.core.errors import NotInstalled
from noughts.files import FileUnavailable, write_output
from noughts.lab.dataset import MOVE_COLUMNS, POSITION_COLUMNS, Row, as_csv, as_jsonl, as_parquet, rows
from noughts.lab.errors import BadFormat
from support.at_once import run_code
from support.command import COMMAND, environment
from support.deadlines import DEADLINE_SECONDS
from support.pseudo_terminal import in_terminal
from support.reference import symmetry as plain_symmetry, tactics as plain
from support.reference.reasons import kinds

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "dataset.md").read_text()
SCORES = {"win": 1, "draw": 0, "loss": -1}
WRITERS = {"csv": as_csv, "jsonl": as_jsonl, "parquet": as_parquet}


@pytest.fixture(scope="session")
def table() -> list[Row]:
    """Return all rows."""
    return [*rows()]


@pytest.fixture
def short(table: list[Row], monkeypatch: pytest.MonkeyPatch) -> list[Row]:
    """Reduce the dataset to its first rows, for tests of how they are written."""
    first = table[:20]
    monkeypatch.setattr(dataset, "rows", lambda: first)
    return first


def alone(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the command without any installed package."""
    return subprocess.run(
        [sys.executable, "-S", "-m", "noughts", "dataset", *arguments],
        capture_output=True,
        env=environment(PYTHONPATH=str(ROOT / "src"), PYTHONHASHSEED="1"),
        cwd=folder,
        timeout=DEADLINE_SECONDS,
        text=True,
        check=False,
    )


def test_every_position_has_its_row(table: list[Row]) -> None:
    boards = reachable()

    assert len(table) == len(boards) == 5478
    assert sum(row["is_over"] for row in table) == 958
    for number, (row, board) in enumerate(zip(table, boards, strict=True)):
        signs = row["board"].replace("/", "")
        assert [*row] == [*POSITION_COLUMNS, *MOVE_COLUMNS]
        assert row["position"] == number
        assert row["board"] == str(board)
        assert row["x"] == sum(1 << cell for cell in range(9) if signs[cell] == "X")
        assert row["o"] == sum(1 << cell for cell in range(9) if signs[cell] == "O")
        assert row["tokens"] == 9 - signs.count("_")
        assert row["turn"] == ("X" if signs.count("X") == signs.count("O") else "O")
        assert row["is_over"] is plain.is_over(signs)
        assert (row["winner"] or "") == plain.winner(signs)


def test_symmetry_classes_match_the_second_implementation(table: list[Row]) -> None:
    classes: dict[str, int] = {}
    for row in table:
        signs = row["board"].replace("/", "")
        number = classes.setdefault(plain_symmetry.box_of(signs), len(classes))
        assert row["symmetry_class"] == number
        assert row["canonical"].replace("/", "") in plain_symmetry.images(signs)

    assert len(classes) == len({row["canonical"] for row in table}) == 765


def test_values_and_reasons_match_the_second_implementation(table: list[Row]) -> None:
    """And the solver and the coach."""
    moves = 0
    for row in table:
        signs, mark = row["board"].replace("/", ""), row["turn"]
        assert (row["score"], row["distance"]) == plain.minimax(signs, mark)
        assert SCORES[row["value"]] == row["score"]
        board = parse_board(row["board"])
        assert (row["value"], row["distance"]) == (str(prospect(board).result), prospect(board).distance)
        advised = {advice.cell: advice for advice in advise(board)}
        free = [] if row["is_over"] else sorted(plain.free(signs))
        assert sorted(advised) == free
        moves += len(free)
        assert {len(row[name]) for name in MOVE_COLUMNS} == {9}
        for cell in range(9):
            found = [row[name][cell] for name in MOVE_COLUMNS]
            if cell not in free:
                assert found == [None] * 5
                continue
            value, score, distance, best, reasons = found
            assert (score, distance) == plain.moves(signs, mark)[cell]
            assert SCORES[value] == score
            assert best is (cell in plain.best(signs, mark))
            assert reasons == kinds(signs, mark, cell)
            advice = advised[cell]
            assert (value, distance) == (str(advice.prospect.result), advice.prospect.distance)
            assert (best, reasons) == (advice.is_best, [str(reason.kind) for reason in advice.reasons])

    assert moves == 16_167


def read_csv(written: bytes) -> list[Row]:
    """Parse CSV by the types of its columns."""
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


def test_all_formats_read_back_as_the_rows(table: list[Row]) -> None:
    lines, content = as_jsonl(table).splitlines(), as_csv(table)
    read = parquet.read_table(BytesIO(as_parquet(table)))

    assert read_csv(content) == [json.loads(line) for line in lines] == read.to_pylist() == table
    assert {len(row) for row in csv.reader(content.decode().splitlines())} == {58}
    assert content.count(b"\n") == 1 + 5478
    assert b"\r" not in content
    assert [*json.loads(lines[0])] == [*POSITION_COLUMNS, *MOVE_COLUMNS]
    types = {field.name: str(field.type).replace("element: ", "") for field in read.schema}
    assert types == documented()


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_csv_and_json_lines_need_no_package_and_are_reproducible(
    form: str, table: list[Row], tmp_path: Path
) -> None:
    ran = alone(f"all.{form}", folder=tmp_path)

    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("Wrote 5,478 positions to ")
    assert (tmp_path / f"all.{form}").read_bytes() == WRITERS[form](table)


def test_parquet_can_be_piped_and_is_reproducible(table: list[Row]) -> None:
    ran = subprocess.run(
        [*COMMAND, "dataset", "--format", "parquet"],
        capture_output=True,
        env=environment(PYTHONHASHSEED="1"),
        timeout=DEADLINE_SECONDS,
        check=True,
    )

    assert ran.stdout == as_parquet(table)


def documented() -> dict[str, str]:
    """Return the columns on the page, and their types."""
    return dict(re.findall(r"^\|`(\w+)`\|`([\w<>]+)`\|", PAGE, re.MULTILINE))


def test_the_page_lists_every_column() -> None:
    nines = {name: f"list<{kind}>" for name, kind in MOVE_COLUMNS.items()}

    assert [*documented().items()] == [*(POSITION_COLUMNS | nines).items()]


def test_the_page_shows_a_real_row(table: list[Row]) -> None:
    shown = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)

    row = json.loads(shown[0])
    assert row == table[row["position"]]


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
def test_the_format_is_the_option_or_the_extension(
    name: str, asked: str | None, form: str, short: list[Row], tmp_path: Path
) -> None:
    out = BytesIO()

    write_dataset(str(tmp_path / name), asked, out)

    assert (tmp_path / name).read_bytes() == WRITERS[form](short)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert out.getvalue().decode() == f"Wrote {len(short):,} positions to {tmp_path / name}.\n"


def test_without_a_file_it_goes_to_the_standard_output(short: list[Row]) -> None:
    for asked, form in ((None, "csv"), ("jsonl", "jsonl"), ("parquet", "parquet")):
        out = BytesIO()
        write_dataset(None, asked, out)
        assert out.getvalue() == WRITERS[form](short)


def test_a_file_name_with_control_characters_is_refused(tmp_path: Path) -> None:
    file = str(tmp_path / "all.\x1b[2J")

    with pytest.raises(BadFormat) as refused:
        write_dataset(file, None, BytesIO())

    assert str(refused.value).startswith(f"{file!r} does not end in ")
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("options", [[], ["--format", "parquet"]])
def test_nothing_is_poured_into_a_terminal(options: list[str]) -> None:
    with in_terminal("dataset", *options) as session:
        assert session.end() == 2

    assert " ".join(session.output.decode().split()) == (
        "noughts: the dataset is too long for a terminal: name a file, such as positions.csv, "
        "or redirect the output with >"
    )


def test_without_pyarrow_the_message_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = alone("all.parquet", folder=tmp_path)

    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == (
        "noughts: Parquet needs 'pyarrow', which is not installed: "
        "pip install pyarrow, or use csv or jsonl\n"
    )
    assert [*tmp_path.iterdir()] == []
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(NotInstalled, match="pip install pyarrow"):
        as_parquet([])


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
def test_a_place_that_cannot_be_written_is_reported(place: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("a file is no folder")
    (tmp_path / "loop").symlink_to("loop")
    before = sorted(tmp_path.rglob("*"))
    file = os.path.join(tmp_path, place)  # noqa: PTH118 - a path keeps no last slash

    with pytest.raises(FileUnavailable, match=f"^{re.escape(file)} cannot be written: .*{why}"):
        write_output(file, b"all of it")

    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / "file").read_text() == "a file is no folder"


def test_a_file_over_the_size_limit_is_not_half_written(tmp_path: Path) -> None:
    (tmp_path / "all.csv").write_text("before")
    script = (
        "import resource\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "from noughts.files import write_output\n"
        "write_output('all.csv', bytes(100_000))\n"
    )

    ran = run_code(script, cwd=tmp_path)

    assert "FileUnavailable: all.csv cannot be written: File too large" in ran.stderr
    assert [path.read_text() for path in tmp_path.iterdir()] == ["before"]


@pytest.mark.parametrize("ending", [OSError(ENOSPC, "the disk is full"), KeyboardInterrupt()])
def test_an_interrupted_write_leaves_the_old_file(
    ending: BaseException, short: list[Row], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    def end(_number: int) -> Never:
        raise ending

    (tmp_path / "old.csv").write_text("before")
    monkeypatch.setattr(os, "fsync", end)

    for name in ("old.csv", "new.csv"):
        with pytest.raises((FileUnavailable, KeyboardInterrupt)):
            write_dataset(str(tmp_path / name), None, BytesIO())

    assert short
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"old.csv": "before"}


def test_a_replaced_file_keeps_its_mode_and_links(tmp_path: Path) -> None:
    file, link = tmp_path / "all.csv", tmp_path / "link.csv"
    file.write_text("before")
    file.chmod(0o640)
    link.symlink_to(file)

    write_output(str(link), b"after")

    assert file.read_bytes() == b"after"
    assert file.stat().st_mode & 0o777 == 0o640
    assert link.is_symlink()


def test_a_pipe_is_written_to_unless_it_is_closed() -> None:
    reading, writing = os.pipe()
    write_output(f"/dev/fd/{writing}", b"all of it")
    assert os.read(reading, 100) == b"all of it"
    os.close(reading)

    with pytest.raises(BrokenPipeError):
        write_output(f"/dev/fd/{writing}", b"all of it")
    os.close(writing)
