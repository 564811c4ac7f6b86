"""The catalogue of sentences: plain data, complete, and without anything that nobody says."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path
from string import Formatter
from typing import get_args

import pytest

from noughts import WORDINGS, reachable, say_turning_point
from noughts.analysis.coach import Review, advise
from noughts.analysis.solver import prospect
from noughts.core.game import Game
from noughts.text.catalogue import ENGLISH, SENTENCES, Catalogue
from noughts.text.columns import wrap
from noughts.text.sentences import LEVELS, MoveName, say_advice
from noughts.text.speaker import CellNames

CELLS: tuple[CellNames, ...] = "numbers", "places"
SOURCE = Path(__file__).parents[2] / "src" / "noughts"


def placeholders(sentence: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(sentence) if name is not None}


def test_sentences_are_plain_data_with_named_placeholders() -> None:
    assert json.loads(json.dumps(SENTENCES)) == SENTENCES
    for key, sentence in SENTENCES.items():
        assert re.fullmatch(r"[a-z]+\.[a-z_]+", key), key
        assert all(name.isidentifier() for name in placeholders(sentence)), sentence


@pytest.mark.parametrize("wording", WORDINGS.values(), ids=WORDINGS)
def test_a_wording_changes_only_sentences_that_exist(wording: Catalogue) -> None:
    for key, sentence in wording.sentences.items():
        assert placeholders(sentence) <= placeholders(SENTENCES[key]), key


@pytest.mark.thorough
def test_every_key_is_used_and_every_key_that_is_used_exists() -> None:
    """The coach makes up its keys, so it has to say everything that it can."""
    catalogue = SOURCE / "text" / "catalogue.py"
    source = "".join(path.read_text() for path in SOURCE.rglob("*.py") if path != catalogue)
    areas = "|".join({key.partition(".")[0] for key in SENTENCES})
    written = {*re.findall(rf"[\"']((?:{areas})\.[a-z_]+)[\"']", source)}

    assert written <= {*SENTENCES}
    assert {*SENTENCES} - written == keys_of_the_coach() - written


def keys_of_the_coach() -> set[str]:
    """Return the keys for every move of every position and the review of every mistake."""
    used = set[str]()

    class Noting(dict[str, str]):
        def __getitem__(self, key: str) -> str:
            used.add(key)
            return super().__getitem__(key)

    noting = Catalogue(Noting(SENTENCES))
    for board in reachable():
        if board.canonical is not board:
            continue
        for advice in advise(board):
            for cells in CELLS:
                for level in LEVELS:
                    say_advice(advice, level, cells, noting)
                for move in get_args(MoveName):
                    say_advice(advice, "player", cells, noting, move=move)
            after = board.place(advice.cell)
            found = Review((advice,), prospect(after))
            game = Game.at(after)
            for each, cells in product((game, game.replace(resigned=board.turn, is_over=True)), CELLS):
                say_turning_point(found, each, cells, noting)
    return used


@pytest.mark.parametrize("columns", [43, 79])
def test_the_help_of_a_live_board_indents_only_what_goes_on_below_a_key(columns: int) -> None:
    shown = wrap(SENTENCES["live.help"], columns, indent=3)
    introduction, keys = shown[: shown.index("")], shown[shown.index("") + 1 :]

    assert not any(line.startswith(" ") for line in introduction)
    assert all(re.match(r"[a-z#]  \w|   \S", line) for line in keys)
    assert [line[0] for line in keys if line[0] != " "] == [*"hwur#q"]
    assert not any(line.startswith(" ") for line in SENTENCES["live.help"].splitlines())


def test_a_sentence_that_a_translation_leaves_out_is_english() -> None:
    german = Catalogue({"game.goodbye": "Tschüss!"})

    assert (german.say("game.goodbye"), german.say("prompt.again")) == ("Tschüss!", "Play again? (y/n)")
    assert ENGLISH.say("game.goodbye") == "Goodbye!"


def test_an_unknown_key_and_a_missing_value_are_errors() -> None:
    with pytest.raises(KeyError, match=r"game\.nonesuch"):
        ENGLISH.say("game.nonesuch")
    with pytest.raises(KeyError, match="player"):
        ENGLISH.say("game.won")
