"""The programs of the cookbook: they print what the page shows, and their types are right."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.at_once import run_code

ROOT = Path(__file__).parent.parent
PROGRAMS = re.findall(
    r"^## (.*?)\n.*?```python\n(.*?)```\n\n```text\n(.*?)```\n",
    (ROOT / "docs" / "cookbook.md").read_text(),
    re.DOTALL | re.MULTILINE,
)
CHECKERS = {
    # As strict as for our own code, whose cache it shares: without one it takes ten seconds.
    "mypy": ["mypy", f"--config-file={ROOT / 'pyproject.toml'}", f"--cache-dir={ROOT / '.mypy_cache'}"],
    "pyright": ["pyright", f"--pythonpath={sys.executable}"],
}


def test_there_are_ten_programs_of_ten_lines() -> None:
    assert len(PROGRAMS) == 10
    assert all(len(re.findall(r"^.", program, re.MULTILINE)) <= 10 for _, program, _ in PROGRAMS)


@pytest.mark.parametrize(
    ("program", "printed"), [row[1:] for row in PROGRAMS], ids=[row[0] for row in PROGRAMS]
)
def test_a_program_prints_what_the_page_shows(program: str, printed: str, tmp_path: Path) -> None:
    ran = run_code(program, cwd=tmp_path)

    assert (ran.stdout, ran.stderr) == (printed, "")


@pytest.mark.parametrize("checker", CHECKERS)
def test_the_types_of_the_programs_are_right(checker: str, tmp_path: Path) -> None:
    files = [tmp_path / f"program_{number}.py" for number in range(len(PROGRAMS))]
    for file, (_, program, _) in zip(files, PROGRAMS, strict=True):
        file.write_text(program)

    ran = subprocess.run(
        [sys.executable, "-m", *CHECKERS[checker], *map(str, files)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 0, ran.stdout + ran.stderr
