"""`make mutants`: mutation testing of the core."""

from __future__ import annotations

import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "mutants.md"
MIN_SCORE_PERCENT = 95.0
MAX_MEMORY_BYTES = 4 << 30


def mutmut(*arguments: str) -> str:
    """Run mutmut in the project and return its output."""
    ran = subprocess.run(
        [sys.executable, "-m", "mutmut", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=_limit_memory,
    )
    return ran.stdout + ran.stderr


def _limit_memory() -> None:
    """One mutant reads an endless iterator: end it before it takes all memory."""
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))


def main() -> int:
    """Run all mutants, print the score, and check that every survivor is explained."""
    shutil.rmtree(ROOT / "mutants", ignore_errors=True)  # an older run may be stale
    said = mutmut("run")
    counts = re.findall(r"(\d+)/(\d+)  🎉 (\d+) 🫥 (\d+)  ⏰ (\d+)  🤔 (\d+)  🙁 (\d+)", said)
    if not counts:
        print(said[-3000:])
        return 1
    done, total, killed, untested, timed_out, suspicious, survived = map(int, counts[-1])
    detected = killed + timed_out
    score = 100 * detected / total
    print(
        f"{total} mutants of src/noughts/core: {killed} killed, {timed_out} timed out, "
        f"{survived} survived, {untested} untested, {suspicious} suspicious: "
        f"score {score:.1f} % (reach {MIN_SCORE_PERCENT} %)"
    )
    explained = PAGE.read_text()
    unexplained = [
        name for name in re.findall(r"(\S+): survived", mutmut("results")) if f"`{name}`" not in explained
    ]
    for name in unexplained:
        print(f"not explained in {PAGE.name}: {name}\n{mutmut('show', name)}")
    return 0 if done == total and score >= MIN_SCORE_PERCENT and not unexplained else 1


if __name__ == "__main__":
    sys.exit(main())
