"""Tries the web game, the lab and the PostgreSQL store once, with the installed versions.

It needs only noughts and its extras; `make lowest` runs it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import Request, urlopen

import gymnasium
from pettingzoo.utils import random_demo  # type: ignore[import-untyped]  # it has no types to offer

from noughts.lab.envs import GYM_ID, tic_tac_toe_v1

if TYPE_CHECKING:
    from collections.abc import Iterator

NOUGHTS = (sys.executable, "-m", "noughts")
TIMEOUT_SECONDS = 30


def run(*arguments: str, code: int = 0) -> str:
    """Run the command, check its exit code, and return its output."""
    ran = subprocess.run(
        [*NOUGHTS, *arguments], capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False
    )
    assert ran.returncode == code, ran
    return ran.stdout + ran.stderr


@contextmanager
def serving(store: str) -> Iterator[str]:
    """Serve the web game on a free port; stop it at the end."""
    server = subprocess.Popen(
        [*NOUGHTS, "serve", "--port", "0", "--store", store], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout
        yield server.stdout.readline().removeprefix("Serving on ").strip()
        server.terminate()
        assert server.wait(TIMEOUT_SECONDS) == 0
    finally:
        server.kill()
        server.communicate()


def ask(url: str, body: dict[str, Any] | None = None, secret: str = "") -> Any:  # noqa: ANN401 - an open response
    """Open a URL, maybe with a JSON body."""
    data = json.dumps(body).encode() if body else None
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {secret}"}
    return urlopen(Request(url, data, headers if secret or body else {}), timeout=TIMEOUT_SECONDS)  # noqa: S310 - our own server


def try_web(folder: Path) -> None:
    """Draw a link; create a game with a bot, make a move, and read the stream until it has answered."""
    store = f"sqlite:{folder / 'games.sqlite'}"
    with serving(store) as base:
        with ask(f"{base}/") as page:
            assert b"<title>" in page.read()
        api = f"{base}/api/v1"
        with ask(f"{api}/qr", {"link": base}) as drawn:
            assert json.load(drawn)["svg"].startswith("<svg")
        with ask(f"{api}/games", {"opponent": "bot", "bot": "perfect", "secret": True}) as created:
            seat = json.load(created)
        game = f"{api}/games/{seat['id']}"
        move = {"cell": 4, "version": seat["game"]["version"], "key": "smoke-1"}
        with ask(f"{game}/moves", move, seat["secrets"]["X"]) as moved:
            version = json.load(moved)["version"]
        with ask(f"{game}/events?after={version}") as stream:
            placed = next(line for line in stream if b'"playerPlacedToken"' in line)
        assert json.loads(placed.removeprefix(b"data: "))["mark"] == "O"
    run("store", "verify", "--store", store)


def try_lab(folder: Path) -> None:
    """Simulate, hold a tournament and draw it, write the dataset, and play in every environment."""
    assert json.loads(run("simulate", "--games", "1000", "--seed", "1", "--json"))["games"] == 1000
    picture = folder / "ratings.png"
    assert "perfect" in run("tournament", "random", "perfect", "--plot", str(picture))
    assert picture.stat().st_size > 0
    positions = folder / "positions.csv"
    run("dataset", str(positions))
    assert len(positions.read_text().splitlines()) == 1 + 5478
    assert random_demo(tic_tac_toe_v1.env(), render=False, episodes=20) == 0  # no illegal move
    try_gymnasium()


def try_gymnasium() -> None:
    """Play one game with its mask, and a few at once."""
    env: Any = gymnasium.make(GYM_ID)
    seen, info = env.reset(seed=1)
    is_over = False
    while not is_over:
        seen, _, is_over, _, info = env.step(env.action_space.sample(seen["action_mask"]))
    assert not info["illegal"]
    games: Any = gymnasium.make_vec(GYM_ID, num_envs=4, opponent="perfect")
    seen, _ = games.reset(seed=1)
    for _ in range(10):
        seen, *_, infos = games.step(seen["action_mask"].argmax(axis=1))
        assert not infos["illegal"].any()


def try_postgres() -> None:
    """Connect to a database that does not answer."""
    output = run("games", "--store", "postgresql://nobody@127.0.0.1:1/none", code=1)
    assert "the store on PostgreSQL is unavailable" in output, output


def main() -> None:
    """Try everything; stop at the first failure."""
    with tempfile.TemporaryDirectory() as folder:
        try_web(Path(folder))
        try_lab(Path(folder))
    try_postgres()


if __name__ == "__main__":
    main()
