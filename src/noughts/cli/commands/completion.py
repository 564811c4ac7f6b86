"""`noughts completion`: what a shell offers when TAB is pressed.

Each script hands the line up to the cursor to `noughts completion SHELL LINE`, which answers from the
parser itself: so nothing has to be written again when a command changes.
"""

from __future__ import annotations

from argparse import PARSER, SUPPRESS, Action, Namespace
from collections.abc import Callable, Mapping, Sequence

from noughts.bots.registry import BOT, BUILT_IN, policy_names
from noughts.cli import options as shared
from noughts.cli.console import Console
from noughts.cli.main import COMMANDS, build_parser
from noughts.core.errors import NoughtsError

FILES = "FILES"
"""Printed instead of words where the name of a file is expected."""

SCRIPTS = {
    "bash": """\
_noughts() {
    local IFS=$'\\n' line=${COMP_LINE:0:COMP_POINT}
    local word=${line##* }
    COMPREPLY=($("$1" completion bash "$line" 2> /dev/null))
    if [[ ${COMPREPLY[0]} == FILES ]]; then
        COMPREPLY=()
        compopt -o default
    else  # bash replaces only what follows the last : or =
        COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*[$COMP_WORDBREAKS]}"}"}")
    fi
}
complete -F _noughts noughts
""",
    "zsh": """\
#compdef noughts
_noughts() {
    local -a found
    found=(${(f)"$("$words[1]" completion zsh "${(j: :)words[1,CURRENT-1]} $PREFIX" 2> /dev/null)"})
    if [[ $found[1] == FILES ]]; then
        _files
    else
        _describe noughts found
    fi
}
if [[ $funcstack[1] == _noughts ]]; then
    _noughts "$@"
else
    compdef _noughts noughts
fi
""",
    "fish": """\
function __noughts_words
    set -l found (noughts completion fish (commandline -cp | string collect) 2> /dev/null)
    if test "$found[1]" = FILES
        __fish_complete_path (commandline -ct)
    else
        string join \\n -- $found
    end
end
complete -c noughts -f -k -a '(__noughts_words)'
""",
}

COLON = r"\:"
"""How zsh writes a colon in a word."""

HELP = shared.CommandHelp(
    "Print a script that completes commands, options, choices, files and bots in a shell.",
    {
        "noughts completion bash >> ~/.bashrc": "for every new bash",
        "noughts completion fish > ~/.config/fish/completions/noughts.fish": "the same for fish",
    },
)


def add_options(parser: shared.Parser) -> None:
    parser.add_argument("shell", metavar="SHELL", choices=[*SCRIPTS], help="bash, zsh or fish")
    parser.add_argument("line", nargs="?", help=SUPPRESS)


def run(options: Namespace, console: Console) -> None:
    if options.line is None:
        console.out.write(SCRIPTS[options.shell])
    else:
        form = FORMS[options.shell]
        console.out.writelines(f"{form(*entry)}\n" for entry in complete(options.line).items())


FORMS: dict[str, Callable[[str, str], str]] = {
    "bash": lambda word, _: word,
    "zsh": lambda word, meaning: f"{word.replace(':', COLON)}:{meaning}".removesuffix(":"),
    "fish": lambda word, meaning: f"{word}\t{meaning}".removesuffix("\t"),
}
"""How each shell reads a word and its meaning."""


def complete(line: str) -> dict[str, str]:
    """Return the words that may stand at the end of a line, with their meanings.

    >>> complete("noughts pl"), [*complete("noughts play --wording ")]
    ({'play': 'play a game with people, bots or programs'}, ['narrative', 'gem', 'kata'])
    """
    words = line.split()[1:] + [""] * line[-1:].isspace()
    if not words:
        return {}
    *before, current = words
    try:
        offered = _offered(before, current)
    except NoughtsError:  # such as a command whose packages are not installed
        return {}
    return {word: means for word, means in offered.items() if word.startswith(current) or word == FILES}


def _offered(before: Sequence[str], current: str) -> Mapping[str, str]:
    """Return what may follow these words; `current` only decides between options and other words."""
    parser, option, filled = build_parser(before), None, 0
    for word in before:
        argument = _argument(parser, filled)
        if option:
            option = None
        elif word.startswith("-"):
            found = parser.options.get(word)
            option = found if found and found.nargs != 0 else None
        elif argument and argument.nargs == PARSER:
            tasks = dict(argument.choices or {})
            if word not in tasks:
                return {}
            parser, filled = tasks[word], 0
        else:
            filled += 1
    name, equals, _ = current.partition("=")
    if not option and equals and (option := parser.options.get(name)):
        return {f"{name}={word}": meaning for word, meaning in _values(option).items()}
    values = _values(option or _argument(parser, filled))
    if option or (values and not current.startswith("-")):
        return values
    return {name: action.help or "" for name, action in parser.options.items() if name.startswith("--")}


def _argument(parser: shared.Parser, number: int) -> Action | None:
    """Return the argument at this place, if there is one; the last may be repeated."""
    found = parser.positionals
    if found and found[-1].nargs in ("*", "+"):
        number = min(number, len(found) - 1)
    return found[number] if number < len(found) else None


def _values(action: Action | None) -> Mapping[str, str]:
    """Return the words that an option or an argument takes, as far as they are known."""
    if not action:
        return {}
    if action.nargs == PARSER:
        tasks = dict(action.choices or {})
        return COMMANDS if action.dest == "command" else {name: tasks[name].description for name in tasks}
    if action.choices is not None:
        return dict.fromkeys(action.choices, "")
    match action.metavar:
        case "FILE" | "PATH":
            return {FILES: ""}
        case "SEAT":
            return {f"{BOT}{name}": meaning for name, meaning in _bots().items()}
        case "POLICY" | "X-POLICY" | "O-POLICY" | "BOT":
            return _bots()
        case _:
            return {}


def _bots() -> dict[str, str]:
    return {name: BUILT_IN[name].description if name in BUILT_IN else "" for name in policy_names()}
