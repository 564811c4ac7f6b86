"""The list of requirements matches the tests that prove them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pytest_bdd.feature import get_features

from support.requirements import FEATURES, IDS, proofs

SPECIFICATION = (Path(__file__).parents[1] / "docs" / "specification.md").read_text(encoding="utf-8")
PRINTED = ["N2", "N3", "N4", "N6", "N9", "A3", "G2", "G4", "G5", "G7", "K1", "K2", "K3", "K4"]
"""What is to be seen."""


def test_the_specification_lists_every_requirement_once_and_in_order() -> None:
    assert re.findall(r"^- \*\*([A-Z]\d+)\*\* \S", SPECIFICATION, re.MULTILINE) == IDS


def test_every_requirement_is_proven_and_every_proof_is_of_a_requirement() -> None:
    assert sorted(proofs()) == sorted(IDS)


@pytest.mark.parametrize("requirement", PRINTED)
def test_what_a_document_prints_is_checked_in_a_pipe_and_on_a_terminal(requirement: str) -> None:
    surfaces = {surface for proof in proofs()[requirement] for surface in proof.surfaces}

    assert surfaces >= {"pipe", "terminal"}


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
