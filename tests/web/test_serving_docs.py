"""docs/serving.md agrees with the server."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import uvicorn

from noughts import open_store, web as page
from noughts.cli.remote.client import SILENCE_LIMIT_SECONDS
from noughts.web.settings import GONE, from_environment
from noughts.web.streams import PING_SECONDS
from support.command import environment, noughts as run_noughts
from support.postgres_server import Server as Postgres
from support.web.serving import Server
from support.web.serving_docs import DOCS, EXAMPLES, known_names, served

SERVING = (DOCS / "serving.md").read_text()


def test_silent_streams_are_given_up_after_more_than_one_ping_interval() -> None:
    script = (Path(page.__file__).parent / "static" / "game_stream.js").read_text()
    found = re.search(r"SILENCE_LIMIT_MS = ([\d_]+);", script)
    assert found
    assert int(found[1]) == 1000 * SILENCE_LIMIT_SECONDS == 25_000
    assert f"never silent for more than {PING_SECONDS} s" in SERVING
    assert f"reconnect after {SILENCE_LIMIT_SECONDS:.0f} s of silence" in SERVING
    assert PING_SECONDS == 15


def test_pages_and_examples_name_only_settings_that_exist() -> None:
    for file in (*DOCS.glob("*.md"), *EXAMPLES.iterdir()):
        text = file.read_text().partition("## What went")[0]
        assert {*re.findall(r"\bNOUGHTS_[A-Z_]+\b", text)} <= known_names(), file.name


def test_the_page_says_what_went() -> None:
    _, _, went = SERVING.partition("## What went")
    assert {*re.findall(r"`(NOUGHTS_[A-Z_]+)`", went)} - known_names() == {
        f"NOUGHTS_{name}" for name in GONE
    }


def test_a_backup_has_the_seats(store: str, tmp_path: Path) -> None:
    """The commands of the page work while the server runs."""
    lines = re.findall(r"^noughts store .*$", SERVING, re.MULTILINE)
    assert len(lines) == 2
    with Server(store) as server, server.client() as client:
        seat = client.create("self")
        client.secret = seat["secrets"]["X"]
        assert client.move(seat["id"], 4, 5).status == 200
        for line in lines:
            ran = run_noughts(*shlex.split(line)[1:], env=environment(NOUGHTS_STORE=store), cwd=tmp_path)
            assert (ran.returncode, ran.stderr) == (0, ""), line
    (copy,) = re.findall(r"^noughts store backup (\S+)$", SERVING, re.MULTILINE)

    with Server(f"sqlite:{tmp_path / copy}") as server, server.client(seat["secrets"]["O"]) as client:
        assert client.move(seat["id"], 0, 8).status == 200


@pytest.mark.parametrize("line", re.findall(r"^(?:[A-Z_]+=\S+ )*noughts serve.*$", SERVING, re.MULTILINE))
def test_a_command_line_of_the_page_is_valid(line: str) -> None:
    words = shlex.split(line)
    start = words.index("noughts")
    settings = dict(word.split("=", 1) for word in words[:start])
    served(*words[start + 1 :])
    from_environment(settings)
    assert set(settings) <= known_names()


def test_the_command_line_of_uvicorn_is_valid() -> None:
    (line,) = re.findall(r"^uvicorn (.*)$", SERVING, re.MULTILINE)
    context = uvicorn.main.make_context("uvicorn", shlex.split(line))
    assert context.params["app"] == "noughts.web:create_app"
    assert context.params["proxy_headers"] is False


def test_the_role_of_the_page_may_make_the_tables(postgres: Postgres) -> None:
    (statements,) = re.findall(r"```sql\n(.*?)```", SERVING, re.DOTALL)
    with postgres.connect() as administrator:
        for statement in statements.split(";")[:-1]:
            administrator.execute(statement.encode())
    with open_store(f"postgresql://noughts@/noughts?host={postgres.folder}") as store:
        assert store.count() == 0
