"""Tic-tac-toe with exact rules.

docs/reference.md lists the public names. Each is imported when it is first used. Type checkers read
`__init__.pyi`, which `make names` writes from this table.
"""

__version__ = "0.1.0"

PUBLIC = {
    "": "errors",
    "analysis.as_json": "advice_to_dict review_to_dict",
    "analysis.coach": "Advice Review advise judge_move review",
    "analysis.reasons": "Kind Reason",
    "analysis.solver": "Prospect Result prospect prospects",
    "bots.bot": "Bot next_move play_game",
    "bots.certificate": "Certificate certify",
    "bots.menace.file": "load_machine save_machine",
    "bots.menace.machine": "BeadRules Menace",
    "bots.menace.training": "Training",
    "bots.odds": "Odds odds",
    "bots.policy_file": "load_policy save_policy",
    "bots.program": "Program",
    "bots.policy": "Policy",
    "bots.registry": "find_policy policy_names",
    "core": "events",
    "core.board": "AnyMark Board Cell Mark O SYMMETRIES Status X reachable",
    "core.codec": "decode encode format_record parse_record",
    "core.errors": "IllegalMove NoughtsError",
    "core.events": "Event facts",
    "core.game": "Command CreateGame Game JoinGame PlaceToken Resign TakeBack decide evolve fold replay",
    "core.notation": "AnyBoard format_cell format_moves format_pair format_square game_over "
    "parse_board parse_cell parse_moves",
    "core.player": "Player",
    "service": "Answer Service",
    "store.base": "Entry GameFilter GameSummary Store StoredGame",
    "store.urls": "open_store",
    "text.describe": "describe standing",
    "text.sentences": "say_advice say_prospect",
    "text.svg": "svg",
    "text.turning_point": "say_turning_point",
    "text.wordings": "GEM KATA NARRATIVE WORDINGS Wording",
}
"""Where each public name lives."""

_MODULES = {name: module for module, names in PUBLIC.items() for name in names.split()}
__all__ = sorted(_MODULES)  # noqa: PLE0605 - type checkers read the stub


def __getattr__(name: str) -> object:
    from importlib import import_module  # noqa: PLC0415 - not before it is needed

    if name not in _MODULES:
        raise AttributeError(f"module 'noughts' has no attribute {name!r}")
    home = f"noughts.{_MODULES[name]}".rstrip(".")
    if name in ("errors", "events"):
        return import_module(f"{home}.{name}")
    return globals().setdefault(name, getattr(import_module(home), name))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
