"""The sentences of the page: what it says is in the catalogue, and what is there is said."""

from __future__ import annotations

import json
import re
from importlib.resources import files

from noughts.bots.registry import LEVELS
from noughts.text.page import PAGE_SENTENCES
from noughts.web.page_data import page_data

SCRIPTS = "".join(
    one.read_text() for one in (files("noughts.web") / "static").iterdir() if one.name.endswith(".js")
)
ACTIONS = {f"page.{key}" for key in re.findall(r'key: "(\w+)"', SCRIPTS)}
WHOLE = set(re.findall(r'"((?:page|review)\.\w+)"', SCRIPTS)) | ACTIONS
BEGUN = set(re.findall(r"`((?:page|place|line)\.\w*)\$\{", SCRIPTS))
"""The beginnings of keys that are put together."""

QUOTED = {*re.findall(r'"(\w+)"', SCRIPTS), *map(str.lower, LEVELS)}
DOINGS = {*re.findall(r'"(\w+)"', "".join(re.findall(r"\babout\([^,]+,", SCRIPTS)))}
SWITCHES = {*re.findall(r'"(\w+)"', "".join(re.findall(r"SWITCHES = .+", SCRIPTS)))}
SCREENS = {*"|".join(re.findall(r"\[/\^\\/\(([\w|]+)\)\$/", SCRIPTS)).split("|")}
WORDS = {"": DOINGS | SWITCHES | SCREENS, "you_": DOINGS}
"""What a key can have after these beginnings; after others, any word in quotes."""

BUILT = {
    f"page.{beginning}{word}{end}"
    for beginning, end in re.findall(r"`(page\.\w*|\w+_)\$\{[\w.]+\}(\w*)`", SCRIPTS)
    for beginning in [beginning.removeprefix("page.")]
    for word in WORDS.get(beginning, QUOTED)
}


def test_what_the_page_says_is_in_its_data() -> None:
    known = json.loads(page_data())["sentences"]
    assert len(WHOLE) > 100
    assert WHOLE - {*known} == set()
    for beginning in BEGUN:
        assert any(key.startswith(beginning) for key in known), beginning


def test_what_is_in_the_catalogue_is_said() -> None:
    """Its key is in a script, whole or put together from a word there (`column_${key}`)."""
    assert {*PAGE_SENTENCES} - WHOLE - BUILT == set()


def test_each_level_is_named_and_described() -> None:
    for level in LEVELS:
        assert PAGE_SENTENCES[f"page.level_{level.lower()}"] == level
        assert PAGE_SENTENCES[f"page.about_{level.lower()}"]


def test_the_page_gets_no_sentence_of_a_review_that_it_never_says() -> None:
    sent = [key for key in json.loads(page_data())["sentences"] if key.startswith("review.")]
    assert sorted(sent) == sorted({*re.findall(r'"(review\.\w+)"', SCRIPTS)})
