"""The list of requirements matches the scenarios that prove them."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from pytest_bdd.feature import get_features

ROOT = Path(__file__).parents[1]
SPECIFICATION = (ROOT / "docs" / "specification.md").read_text(encoding="utf-8")
FEATURES = ROOT / "tests" / "features"

KNOWN = [
    f"{letter}{number}"
    for letter, last in (("N", 10), ("E", 7), ("A", 4), ("G", 7), ("K", 4))
    for number in range(1, last + 1)
]


def listed() -> list[str]:
    """Return the ids in the specification, in order."""
    return re.findall(r"^- \*\*([A-Z]\d+)\*\* \S", SPECIFICATION, re.MULTILINE)


def proven() -> Counter[str]:
    """Return how many scenarios have each tag."""
    scenarios = [
        scenario for feature in get_features([str(FEATURES)]) for scenario in feature.scenarios.values()
    ]
    return Counter(tag for scenario in scenarios for tag in scenario.tags)


def test_the_specification_lists_every_requirement_once_and_in_order() -> None:
    assert listed() == KNOWN


def test_every_requirement_is_proven_by_a_scenario() -> None:
    assert [requirement for requirement in listed() if not proven()[requirement]] == []


def test_every_tag_is_a_requirement() -> None:
    assert sorted(set(proven()) - set(listed())) == []


def test_every_scenario_says_what_it_proves() -> None:
    untagged = [
        scenario.name
        for feature in get_features([str(FEATURES)])
        for scenario in feature.scenarios.values()
        if not scenario.tags
    ]

    assert untagged == []


def test_no_scenario_hides_another() -> None:
    """Two scenarios of the same name in a file would run as one."""
    for feature in get_features([str(FEATURES)]):
        text = Path(feature.filename).read_text(encoding="utf-8")
        names = re.findall(r"^ *Scenario(?: Outline)?: (.+)$", text, re.MULTILINE)

        assert names == list(feature.scenarios)


def test_every_feature_is_run() -> None:
    """A file of scenarios without a test module would prove nothing."""
    features = {path.name for path in FEATURES.glob("*.feature")}
    taken_up = {
        name
        for path in FEATURES.glob("test_*.py")
        for name in re.findall(r'^scenarios\("(.+)"\)$', path.read_text(encoding="utf-8"), re.MULTILINE)
    }

    assert len(features) == 5
    assert taken_up == features
