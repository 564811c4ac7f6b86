"""The example files for serving: they start valid commands, and name existing files."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
from configparser import RawConfigParser
from pathlib import Path

from noughts.web.request import MAX_BODY_BYTES
from noughts.web.routes import OPERATIONS
from noughts.web.serve import IDLE_SECONDS
from noughts.web.settings import Settings, from_environment
from noughts.web.streams import PING_SECONDS
from support.web.serving import BASE, Server
from support.web.serving_docs import EXAMPLES, ROOT, known_names, served

_UNIT = (EXAMPLES / "noughts.service").read_text()
UNIT = RawConfigParser(strict=False, interpolation=None, delimiters=("=",))
UNIT.optionxform = str  # type: ignore[method-assign,assignment]  # names are as they are written
UNIT.read_string(_UNIT)

_CONTAINER = re.sub(r"\\\n\s*", "", (EXAMPLES / "Containerfile").read_text())
INSTRUCTIONS = [
    line.split(None, 1) for line in _CONTAINER.splitlines() if line and not line.startswith("#")
]

NGINX = (EXAMPLES / "nginx.conf").read_text()
UPSTREAMS = re.findall(r"^ +(?:# )?server (\S+) max_fails=0;$", NGINX, re.MULTILINE)
"""The server, and the second that is commented out."""


def test_the_unit_starts_a_server() -> None:
    assert UNIT.sections() == ["Unit", "Service", "Install"]
    command, *arguments = shlex.split(UNIT["Service"]["ExecStart"])
    options = served(*arguments)
    assert Path(command).name == "noughts"
    assert Path(command).is_absolute()
    assert f"{options.host}:{options.port}" == UPSTREAMS[0]


def test_the_settings_of_the_unit_are_valid() -> None:
    said = dict(re.findall(r"^Environment=(\w+)=(.*)$", _UNIT, re.MULTILINE))
    settings = from_environment(said)
    assert set(said) <= known_names()
    assert settings.store.startswith(f"sqlite:%S/{UNIT['Service']['StateDirectory']}/")
    assert settings.proxy
    assert settings.origin.startswith("https://")


def test_the_unit_has_only_the_rights_it_needs() -> None:
    service = UNIT["Service"]
    expected = {
        "DynamicUser": "yes",
        "ProtectSystem": "strict",
        "ProtectHome": "yes",
        "PrivateTmp": "yes",
        "NoNewPrivileges": "yes",
        "CapabilityBoundingSet": "",
        "RestrictNamespaces": "yes",
    }

    assert {name: service[name] for name in expected} == expected
    assert int(service["TimeoutStopSec"]) > 5
    assert int(service["LimitNOFILE"]) > 2 * Settings().most_streams
    assert UNIT["Unit"]["StartLimitIntervalSec"] == "0"  # at boot the database may come later


def instructed(what: str) -> str:
    """Return the argument of an instruction that occurs once."""
    (found,) = [rest for name, rest in INSTRUCTIONS if name == what]
    return found


def test_the_container_starts_a_server() -> None:
    entry, arguments = json.loads(instructed("ENTRYPOINT")), json.loads(instructed("CMD"))
    options = served(*arguments)
    assert entry == ["noughts"]
    assert str(options.port) == instructed("EXPOSE")
    assert instructed("STOPSIGNAL") == "SIGTERM"


def test_the_settings_of_the_container_are_valid() -> None:
    """It listens on all interfaces, and its games are on the volume."""
    said = dict(word.split("=", 1) for word in shlex.split(instructed("ENV")))
    ours = {name: value for name, value in said.items() if name.startswith("NOUGHTS_")}
    settings = from_environment(ours)
    assert set(ours) <= known_names()
    assert settings.store.startswith(f"sqlite:{instructed('VOLUME')}/")
    assert ours["NOUGHTS_HOST"] == "0.0.0.0"  # noqa: S104 - in a container that is what is meant


def test_the_container_installs_existing_extras_and_files() -> None:
    """Our own extras and files, for a user other than root, and no index by name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    copied = [word for name, rest in INSTRUCTIONS if name == "COPY" for word in rest.split()[:-1]]
    (extras,) = re.findall(r"'/source\[([a-z,]+)\]'", instructed("RUN"))

    assert set(extras.split(",")) <= set(project["optional-dependencies"])
    assert {project["readme"], *project["license-files"], "pyproject.toml", "src"} <= set(copied)
    assert all((ROOT / name).exists() for name in copied)
    assert "index" not in _CONTAINER.lower()
    assert not re.search(r"https?://(?!127\.0\.0\.1)", _CONTAINER)
    user = instructed("USER")
    assert user.split(":")[0].isdecimal()
    assert int(user.split(":")[0]) > 0


def test_the_health_check_of_the_container_works(server: Server) -> None:
    _, there, check = instructed("HEALTHCHECK").partition("CMD ")
    assert there
    program, *arguments = json.loads(check)
    (address,) = re.findall(r"http://127\.0\.0\.1:8000(/[^']*)", check)
    paths = {operation.route for operation in OPERATIONS}

    asked = [word.replace("http://127.0.0.1:8000", server.url) for word in arguments]
    nowhere = [word.replace("127.0.0.1:8000", "127.0.0.1:1") for word in arguments]

    assert program == "python"
    assert address in paths
    assert subprocess.run([sys.executable, *asked], check=False).returncode == 0
    failed = subprocess.run([sys.executable, *nowhere], check=False, capture_output=True)
    assert failed.returncode == 1


def test_the_compose_file_starts_a_server() -> None:
    text = (EXAMPLES / "compose.yaml").read_text()
    (command,) = re.findall(r"^\s+command: (\[.*\])$", text, re.MULTILINE)
    (dockerfile,) = re.findall(r"dockerfile: (\S+)", text)
    (store,) = re.findall(r"NOUGHTS_STORE: (\S.*)$", text, re.MULTILINE)
    options = served(*json.loads(command))
    assert (ROOT / dockerfile).exists()
    ports = re.findall(r'ports: \["(\S+):(\d+)"\]', text)
    assert ports == [(address, str(options.port)) for address in UPSTREAMS]
    assert re.fullmatch(r"postgresql://noughts:\$\{DB_PASSWORD:\?[^}]+\}@db/noughts", store)
    assert not re.search(r"PASSWORD: (?!\$\{)", text)


def test_nginx_knows_the_limits_of_the_server() -> None:
    """What it does besides, `tests/torture/test_nginx.py` shows in a real one."""
    (body,) = re.findall(r"client_max_body_size (\d+)k;", NGINX)
    (idle,) = re.findall(r" keepalive_timeout (\d+)s;", NGINX)
    (silence,) = re.findall(r"proxy_buffering off;\s+proxy_read_timeout (\d+)s;", NGINX)
    (streams,) = re.findall(r"location ~ (\S+) \{", NGINX)
    assert int(body) * 1024 >= MAX_BODY_BYTES
    assert int(idle) < IDLE_SECONDS
    assert int(silence) > PING_SECONDS
    paths = [f"{BASE}{operation.path}".replace("{id}", "a2" * 13) for operation in OPERATIONS]
    assert [path for path in paths if re.search(streams, path)] == [f"{BASE}/games/{'a2' * 13}/events"]
