"""`noughts completion`: the words that a shell offers, and the shells themselves."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from argparse import _SubParsersAction
from itertools import product
from pathlib import Path

import pytest

from noughts.bots.registry import policy_names
from noughts.cli.commands.completion import FILES, SCRIPTS, complete
from noughts.cli.main import COMMANDS, build_parser
from noughts.cli.options import Parser
from support.command import COMMAND, environment
from support.deadlines import DEADLINE_SECONDS
from support.forked import noughts
from support.length import short_or_long
from support.pseudo_terminal import Session
from support.third_party_bots import offered

NAMES = [*policy_names()]
SEATS = [f"bot:{name}" for name in NAMES]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("noughts", []),
        ("noughts ", [*COMMANDS]),
        ("noughts pl", ["play"]),
        ("  noughts   re", ["resume", "replay"]),
        ("noughts -", ["--help", "--version"]),
        ("noughts nonesuch ", []),
        ("noughts nonesuch -", []),
        ("noughts store ", ["verify", "backup", "export", "import"]),
        ("noughts store --", ["--help"]),
        ("noughts store verify --j", ["--json"]),
        ("noughts store nonesuch ", []),
        ("noughts store backup ", [FILES]),
        ("noughts store backup file ", ["--help", "--json", "--store"]),
        ("noughts dataset pos", [FILES]),
        ("noughts menace box --file x", [FILES]),
        ("noughts play --wording ", ["narrative", "gem", "kata"]),
        ("noughts play --wording g", ["gem"]),
        ("noughts play --color=a", ["--color=auto", "--color=always"]),
        ("noughts play --nonesuch=a", []),
        ("noughts play --describe --col", ["--color"]),
        ("noughts play --x ", SEATS),
        ("noughts play --x bot:cl", ["bot:club"]),
        ("noughts play --x ann --o bot:p", ["bot:perfect"]),
        ("noughts play --x=bot:p", ["--x=bot:perfect"]),
        ("noughts odds ", NAMES),
        ("noughts odds club m", ["menace"]),
        ("noughts odds club menace m", []),
        ("noughts certify club expert ca", ["casual"]),
        ("noughts tournament --games 5 club ca", ["casual"]),
        ("noughts menace train --against be", ["beginner"]),
        ("noughts games --limit ", []),
        ("noughts completion z", ["zsh"]),
        ("noughts play --x 'Bob", []),
        ("noughts \x1b[2J ", []),
    ],
)
def test_what_may_follow_is_offered(line: str, words: list[str]) -> None:
    assert [*complete(line)] == words


def test_every_option_of_every_command_is_offered() -> None:
    def check(line: str, parser: Parser) -> None:
        names = [name for name in parser.options if name.startswith("--")]
        assert [*complete(f"{line} --")] == names
        for name in names:
            if choices := parser.options[name].choices:
                assert [*complete(f"{line} {name} ")] == [*choices]
        for action in parser.positionals:
            if isinstance(action, _SubParsersAction):
                for task, its_parser in action.choices.items():
                    check(f"{line} {task}", its_parser)

    for command in COMMANDS:
        (tasks,) = build_parser([command]).positionals
        check(f"noughts {command}", dict(tasks.choices or {})[command])


def test_no_line_is_too_strange() -> None:
    """Whatever is offered begins with the word that is completed."""
    pieces = ["play", "store", "backup", "--x", "--color=", "bot:", "-", "--", "=", "5", "\udcff", "'"]
    lines = [*product(("", "play", "odds", "store"), pieces, pieces)]
    for words in lines[:: short_or_long(5, 1)]:
        line = " ".join(("noughts", *words))
        assert all(word.startswith(words[-1]) or word == FILES for word in complete(line)), line


def test_bots_of_other_packages_are_offered(tmp_path: Path) -> None:
    ran = noughts("completion", "bash", "noughts odds f", env=offered(tmp_path))

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "fine\n", "")


# Real shells

PRESSED = {
    "pl": "<play>",
    "store ver": "<store><verify>",
    "show --wording ka": "<show><--wording><kata>",
    "play --color=al": "<play><--color=always>",
    "play --o bot:cl": "<play><--o><bot:club>",
    "store backup only": "<store><backup><only-here>",
    "store verify only": "<store><verify><only>",
}
"""What is typed before TAB, and the arguments that the command then gets."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a `noughts` that completes, and otherwise prints its arguments."""
    command = tmp_path / "noughts"
    real = shlex.join(COMMAND)
    command.write_text(
        f'#!/bin/sh\n[ "$1" = completion ] && exec {real} "$@"\nprintf "<%s>" "$@"\nprintf ".\\n"\n'
    )
    command.chmod(0o755)
    (tmp_path / "only-here").touch()
    return tmp_path


def settings(folder: Path) -> dict[str, str]:
    return environment(
        PATH=f"{folder}:{os.environ['PATH']}", HOME=str(folder), PS1="", ZDOTDIR=str(folder)
    )


LINE_EDITORS = {
    "bash": (["--norc", "--noprofile", "-i"], 'eval "$(noughts completion bash)"'),
    "zsh": (["-f", "-i"], "autoload -Uz compinit; compinit -D -u; source <(noughts completion zsh)"),
}
INSTALLED = [shell for shell in LINE_EDITORS if shutil.which(shell)]


def test_bash_is_here() -> None:
    assert "bash" in INSTALLED


@pytest.mark.parametrize("shell", INSTALLED)
def test_a_shell_completes_with_tab(shell: str, folder: Path) -> None:
    options, setup = LINE_EDITORS[shell]
    master, slave = os.openpty()
    process = subprocess.Popen(
        [shell, *options],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=folder,
        env=settings(folder),
        start_new_session=True,
    )
    os.close(slave)
    with Session(process, master, master) as session:
        session.type(f"{setup}; noughts ready\n")
        session.expect("<ready>.")
        for typed, arguments in PRESSED.items():
            session.type(f"noughts {typed}\t\n")
            session.expect(f"{arguments}.")


def test_fish_completes(folder: Path) -> None:
    if not (fish := shutil.which("fish")):
        return  # not on this machine
    for typed, arguments in PRESSED.items():
        code = f"source (noughts completion fish | psub); complete -C {shlex.quote(f'noughts {typed}')}"
        ran = subprocess.run(
            [fish, "--no-config", "-c", code],
            capture_output=True,
            text=True,
            cwd=folder,
            env=settings(folder),
            timeout=DEADLINE_SECONDS,
            check=True,
        )
        words = [line.partition("\t")[0] for line in ran.stdout.splitlines()]
        last = arguments.rpartition("<")[2].removesuffix(">")
        assert words == ([] if last == "only" else [last])


def test_every_block_of_a_script_is_closed() -> None:
    """Checked without the shell, which may not be here: bash reads the blocks of zsh, too."""
    bash = str(shutil.which("bash"))
    for script in (SCRIPTS["bash"], SCRIPTS["zsh"]):
        subprocess.run([bash, "-n"], input=script, text=True, check=True)
    words = SCRIPTS["fish"].split()
    assert words.count("end") == words.count("function") + words.count("if") == 2
    assert all(SCRIPTS["fish"].count(sign) % 2 == 0 for sign in "'\"")


@pytest.mark.parametrize("shell", SCRIPTS)
def test_a_script_is_printed(shell: str) -> None:
    ran = noughts("completion", shell)

    assert (ran.returncode, ran.stdout, ran.stderr) == (0, SCRIPTS[shell], "")
