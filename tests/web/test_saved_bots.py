"""Saved policies as bots of a server: the operator names the files, players name a bot."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from random import Random
from shutil import copy

import pytest

from noughts import errors, find_policy, odds, parse_board, save_policy
from noughts.bots.ladder import perfect
from noughts.bots.registry import BUILT_IN
from noughts.web.analysis import bots
from noughts.web.bots import MAX_BOT_NAME_CHARACTERS, Roster, read_policies, split_offered
from noughts.web.problems import InvalidSetting
from noughts.web.serve import serve
from support.forked import noughts
from support.lab_games import first_free
from support.remote import home
from support.web.matches import one_player
from support.web.serving import Server

GOOD = parse_board("X__/___/___")


def read_roster(offered: str) -> Roster:
    return Roster(read_policies(split_offered(offered)), Random())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("policies")
    save_policy(first_free, folder / "first.json")
    save_policy(find_policy("expert"), folder / "expert.json")
    return folder


@pytest.fixture(scope="module")
def server(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Start a server with bots from the environment, and then change their files."""
    served = tmp_path_factory.mktemp("served")
    tiger, paper_tiger = copy(folder / "first.json", served), copy(folder / "expert.json", served)
    bots = f"tiger={tiger}, paper-tiger-2={paper_tiger}"
    with Server(f"sqlite:{served / 'games.db'}", NOUGHTS_BOTS=bots) as server:
        copy(paper_tiger, tiger)
        Path(paper_tiger).unlink()
        yield server
        server.stop_cleanly()


def test_saved_bots_are_listed_with_their_exact_score(server: Server) -> None:
    """After the built-in ones."""
    expert = find_policy("expert")
    draws = (odds(expert, perfect).draw + odds(perfect, expert).draw) / 2
    with server.client() as client:
        listed = client.get("/bots").json["bots"]
    assert [bot["policy"] for bot in listed] == [*BUILT_IN, "tiger", "paper-tiger-2"]
    assert listed[-1]["againstPerfect"]["draws"] == float(draws)
    assert listed[-1]["strength"] == listed[list(BUILT_IN).index("expert")]["strength"]
    assert listed[-2]["strength"] == "Loses every game against perfect play."
    perfect_bot = listed[list(BUILT_IN).index("perfect")]
    assert perfect_bot["description"].endswith("takes the one that does best against random play.")
    described = [bot["description"] for bot in listed[:-1]]  # those in files share theirs
    assert len({*described, ""}) == len(described) + 1


def test_a_person_plays_a_saved_bot(server: Server, tmp_path: Path) -> None:
    """Also from the terminal."""
    with one_player(server, "bot", bot="tiger", mark="O", first="X") as person, person.follow() as stream:
        stream.wait_version(8)
        for cell, version in ((4, 8), (8, 14)):
            assert person.move(cell, version).status == 200
            stream.wait_version(version + 6)
        now = person.client.read(person.game)
    assert (now["board"], now["winner"]) == ("XXX/_O_/__O", "X")
    seat = now["room"]["seats"]["X"]
    assert (seat["name"], seat["bot"]) == ("bot:tiger", "tiger")
    ran = noughts("join", server.url, "--bot", "tiger", typed="resign\n", env=home(tmp_path))
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "tiger (bot)" in ran.stdout


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        # Although a sentence begins with a capital letter, the name of a bot does not.
        ("tiger:win=1", "The bot tiger has no 'win': it has no parameters."),
        *(
            (policy, "")
            for policy in (
                *("saved:file=q.json", "saved", "saved:", "tiger:file=q.json", "lion", "club:luck=1"),
                *("", "menace:file=games", "x" * 60, "program:./x"),
            )
        ),
    ],
)
def test_a_client_cannot_name_a_file(server: Server, policy: str, words: str) -> None:
    with server.client() as client:
        answer = client.post("/games", {"opponent": "bot", "bot": policy})
    assert (answer.status, answer.code) == (400, "unknownPolicy")
    assert "q.json" not in answer.json["detail"]
    assert answer.json["detail"] == words or not words


FOREIGN_PACKAGE = """
import pathlib

pathlib.Path(__file__).with_name("loaded").touch()


def fromfile(path="/etc/hostname"):
    raise ValueError(pathlib.Path(path).read_text())
"""


def test_a_game_waits_for_a_bot_that_is_not_offered(folder: Path, store: str, tmp_path: Path) -> None:
    """No function of another package with its name is called, in a game or for a client."""
    (tmp_path / "stranger.py").write_text(FOREIGN_PACKAGE)
    about = tmp_path / "stranger-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[noughts.policies]\nfromfile = stranger:fromfile\n")
    offered, settings = ("--bot", f"fromfile={folder / 'first.json'}"), {"PYTHONPATH": str(tmp_path)}
    with Server(store, *offered, NOUGHTS_BOTS="lion=x", **settings) as server, server.client() as client:
        assert [bot["policy"] for bot in client.get("/bots").json["bots"]] == [*BUILT_IN, "fromfile"]
        seat = client.create("bot", bot="fromfile")
    game, secret = seat["id"], seat["secrets"]["X"]
    with Server(store, **settings) as server, server.client(secret) as client:
        assert [bot["policy"] for bot in client.get("/bots").json["bots"]] == [*BUILT_IN]
        for asked in ("fromfile", "fromfile:path=/etc/hostname", "fromfile:path=/none/such"):
            answer = client.post("/games", {"opponent": "bot", "bot": asked})
            words = f"Unknown policy 'fromfile': choose one of {', '.join(BUILT_IN)}."
            assert (answer.code, answer.json["detail"]) == ("unknownPolicy", words)
        assert client.move(game, 4, 5).status == 200
        assert client.read(game)["board"] == "___/_X_/___"
        server.stop_cleanly()
    assert not (tmp_path / "loaded").exists()
    with Server(store, *offered) as server, server.client() as client, client.follow(game) as stream:
        stream.wait_version(11)
        assert stream.positions[-1]["moves"] == [4, 0]


VALUES = {"beads": "8-4-2-1", "empty": "refill", "blame": "last", "loss": "-1", "draw": "1"}
"""Values of parameters that are not chances."""


def test_every_bot_takes_the_parameters_that_are_listed_and_no_others(folder: Path) -> None:
    roster = read_roster(f"tiger={folder / 'first.json'}")
    listed = {bot["policy"]: bot["parameters"] for bot in json.loads(bots(roster))["bots"]}
    every = {name for names in listed.values() for name in names} | {"file", "path", "self", "board"}

    assert tuple(listed) == roster.names
    assert listed["club"] == ["win", "block", "fork", "defence", "centre"]
    assert "beads" in listed["menace"]
    assert listed["perfect"] == listed["tiger"] == []
    for name, parameters in listed.items():
        for parameter in every:
            asked = f"{name}:{parameter}={VALUES.get(parameter, '1')}"
            if parameter in parameters:
                assert roster.policy(asked)(GOOD)
            else:
                with pytest.raises(errors.UnknownPolicy, match=f"^the bot {name} has no '{parameter}'"):
                    roster.policy(asked)


# What is offered


def test_bots_are_read_from_names_and_files(folder: Path, tmp_path: Path) -> None:
    """Only the setting is split at commas: a file of --bot may have one in its name."""
    roster = read_roster(f"tiger={folder / 'first.json'},, 2={folder / 'expert.json'} ,")
    assert roster.names == (*BUILT_IN, "tiger", "2")
    assert roster.policy("tiger")(GOOD) == {1: 1}
    assert roster.policy("club:block=0")(GOOD) == find_policy("club:block=0")(GOOD)
    assert read_roster("").names == tuple(BUILT_IN)
    file = copy(folder / "first.json", tmp_path / "a,b=c.json")
    assert read_policies([f"tiger={file}"])["tiger"](GOOD) == {1: 1}
    with pytest.raises(errors.NotAPolicy, match=r"x,y cannot be read"):
        serve("127.0.0.1", 0, "memory:", ["tiger=x,y"], StringIO(), None)
    with pytest.raises(errors.NotAPolicy, match="nonesuch cannot be read"):
        read_roster(f"tiger={folder / 'first.json'},lion={folder / 'nonesuch'}")


INVALID_NAMES = (
    "", "Tiger", "a b", "a_b", "-a", "a-", "a--b", "ä", "a:b", "a\n", "\x1b[2J",
    "a" * (MAX_BOT_NAME_CHARACTERS + 1),
)  # fmt: skip


@pytest.mark.parametrize(
    ("offered", "message"),
    [
        *((text, "must be NAME=FILE, the name of up") for text in ("tiger", "tiger=", "a=q,b")),
        *((f"{name}=q", "must be NAME=FILE, the name of up") for name in INVALID_NAMES),
        *((f"{name}=q", "says .*, and another bot has that name$") for name in BUILT_IN),
        ("a=q,a=q", "says 'a', and another bot has that name$"),
        *((f"{name}=q", f"says '{name}', which is reserved$") for name in ("saved", "program", "bot")),
    ],
    ids=ascii,
)
def test_a_name_that_is_invalid_taken_or_reserved_is_refused(offered: str, message: str) -> None:
    with pytest.raises(InvalidSetting, match=rf"^--bot \(NOUGHTS_BOTS\) {message}") as no:
        read_roster(offered)
    assert str(no.value).isprintable()


def test_an_unknown_bot_is_answered_with_the_list_of_bots(folder: Path) -> None:
    roster = read_roster(f"tiger={folder / 'first.json'}")
    with pytest.raises(
        errors.UnknownPolicy, match=r"^unknown policy 'tigre' \(did you mean tiger\?\): choose .*, tiger$"
    ):
        roster.policy("tigre")
