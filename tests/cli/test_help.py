"""The help of every command: what it says, and that its examples work."""

from __future__ import annotations

import shlex
import shutil
from argparse import Action, _SubParsersAction
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import noughts.cli.commands
from noughts.cli.main import COMMANDS, EXTRAS, build_parser
from noughts.cli.options import CommandHelp, Parser
from support.at_once import run_code
from support.command import TESTS
from support.forked import noughts as run_noughts, shell
from support.man_page import parsers_of
from support.saved_games import save, saving, url

each_command = pytest.mark.parametrize("command", COMMANDS)
WITHOUT_JSON = {
    "play": "a game is played",
    "resume": "a game is played",
    "replay": "show --json prints the game",
    "events": "store export prints them as JSON",
    "store export": "prints JSON lines",
    "dataset": "--format jsonl prints JSON lines",
    "serve": "logs as JSON where it is not watched",
    "completion": "prints a script",
}
"""Commands that neither list nor report, or print JSON anyway, and why."""
SERVED = {"join", "serve"}
"""Commands that need a server, or are one: their examples are only read."""


def help_of(command: str) -> CommandHelp:
    found = import_module(f"noughts.cli.commands.{command}").HELP
    assert isinstance(found, CommandHelp)
    return found


def arguments(example: str) -> list[str]:
    """Return the arguments of an example, without where its output goes."""
    name, *rest = shlex.split(example.partition(" >")[0])
    assert name == "noughts"
    return rest


def options(command: str) -> Iterator[tuple[str, Action]]:
    for parser in parsers_of(command):
        for action in (*parser.options.values(), *parser.positionals):
            if action.dest != "help" and not isinstance(action, _SubParsersAction):
                yield f"{parser.prog} {action.dest}", action


def test_the_table_has_every_command() -> None:
    files = Path(noughts.cli.commands.__file__ or "").parent.glob("[!_]*.py")

    assert {*COMMANDS} == {file.stem for file in files}


def test_the_help_lists_the_commands_in_groups() -> None:
    shown = run_noughts("--help").stdout

    listed = [
        line.split()[0] for line in shown.splitlines() if line.startswith("  ") and "--" not in line
    ]
    assert listed == [*COMMANDS]
    assert [line for line in shown.splitlines() if line.endswith(":")] == [
        *("options:", "Play:", "Saved games:", "Understand:", "Bots and lab:", "Serve and set up:")
    ]
    for command, extra in EXTRAS.items():
        assert any(
            line.split()[:1] == [command] and line.endswith(f"(needs noughts[{extra}])")
            for line in shown.splitlines()
        )


@each_command
def test_a_command_is_explained(command: str) -> None:
    """By what it does, two examples, and the environment variables of its options."""
    ran = run_noughts(command, "--help")
    described = help_of(command)
    used = {name for _, action in options(command) for name in action.option_strings}

    assert (ran.returncode, ran.stderr) == (0, "")
    assert described.description.endswith(".")
    assert " ".join(described.description.split()[:5]) in ran.stdout
    assert len(described.examples) == 2
    for example, what in described.examples.items():
        assert f"\n  {example}" in ran.stdout
        assert f"# {what}" in ran.stdout
    assert ("NOUGHTS_STORE " in ran.stdout) == ("--store" in used)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        assert (f"{name} " in ran.stdout) == ("--color" in used)
    assert max(map(len, ran.stdout.splitlines())) < 80


@each_command
def test_every_option_says_what_it_does_and_its_default(command: str) -> None:
    for name, action in options(command):
        assert action.help, name
        assert not action.help.startswith("("), name
        if action.default not in (None, False, []):
            assert f"(default: {action.default})" in action.help, name
        if action.dest == "seed":
            assert action.metavar == "SEED"


def test_every_command_that_lists_or_reports_can_print_json() -> None:
    leaves = [parser for command in COMMANDS for parser in parsers_of(command) if _is_leaf(parser)]
    without = {parser.prog for parser in leaves if "--json" not in parser.options}

    assert len(leaves) > len(COMMANDS)
    assert without == {f"noughts {command}" for command in WITHOUT_JSON}


def _is_leaf(parser: Parser) -> bool:
    return not any(isinstance(action, _SubParsersAction) for action in parser.positionals)


@each_command
def test_the_examples_are_read_by_the_parser(command: str) -> None:
    for example in help_of(command).examples:
        words = arguments(example)
        assert build_parser(words).parse_args(words).command == command


@pytest.mark.parametrize("command", [command for command in COMMANDS if command not in SERVED])
def test_the_examples_run(command: str, tmp_path: Path) -> None:
    save(tmp_path, "k7examples", "5", "1", x="ann")
    (tmp_path / ".config" / "fish" / "completions").mkdir(parents=True)
    shutil.copy(TESTS.parent / "examples" / "bot.py", tmp_path)
    shutil.copy(url(tmp_path).removeprefix("sqlite:"), tmp_path / "games.sqlite")
    for example in help_of(command).examples:
        ran = shell(f"cd {shlex.quote(str(tmp_path))}; {example}", env=saving(tmp_path))
        assert ran.returncode == 0, f"{example}: {ran.stderr}"
        assert not ran.stderr


@pytest.mark.parametrize(
    ("words", "loaded"), [("--help", []), ("show 5", ["show", "watch"]), ("play --help", ["play"])]
)
def test_only_the_command_that_is_asked_for_is_loaded(words: str, loaded: list[str]) -> None:
    code = (
        "import sys; from noughts.cli.main import run; run(sys.argv[1:]);"
        "print(*sorted(m[21:] for m in sys.modules if m.startswith('noughts.cli.commands.')))"
    )

    assert run_code(code, *words.split()).stdout.splitlines()[-1].split() == loaded
