"""Helpers of the torture tests: ports, memory, metrics and recorded events."""

from __future__ import annotations

import json
import re
import socket
from pathlib import Path
from random import SystemRandom
from typing import Any

from noughts.store.rows import StoredGame
from support.web.serving import Client


def quiet_port() -> int:
    """Return a free port outside the range of ephemeral ports.

    Otherwise a client that retries a port could get that port itself, connect to itself, and block the
    server from restarting there.
    """
    lowest, _ = map(int, Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split())
    for _ in range(1000):
        port = SystemRandom().randrange(min(20_000, lowest - 5_000), lowest)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError("no port is free")


def memory_kb(pid: int, what: str = "VmRSS") -> int:
    """Return the memory of a process in kB; `VmHWM` is its peak."""
    found = re.search(rf"^{what}:\s+(\d+) kB$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    assert found
    return int(found[1])


def reset_peak(pid: int) -> None:
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def figure(client: Client, name: str) -> int:
    found = re.search(rf"^noughts_{name} (\d+)$", client.get("//metrics").body.decode(), re.MULTILINE)
    assert found, name
    return int(found[1])


def faults(client: Client) -> int:
    """Return how many requests the server has answered with 5xx."""
    text = client.get("//metrics").body.decode()
    return sum(int(count) for count in re.findall(r'status="5\d\d"} (\d+)$', text, re.MULTILINE))


def events_of(stored: StoredGame) -> list[tuple[int, Any]]:
    """Return the events of a game with their versions."""
    lines = [line for entry in stored.entries for line in entry.text.split("\n")]
    return [(version, json.loads(line)) for version, line in enumerate(lines, 1)]
