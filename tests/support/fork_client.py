"""The command in a shell script: has it forked, with the streams, environment and folder of this process.

Runs without site packages, which take longer to load than most commands run.
"""

from __future__ import annotations

import os
import socket
import sys

MAX_BYTES = 60_000
"""The longest message, and the longest input that a pipe takes at once."""


def main(forker: str, *arguments: str) -> int:
    """Ask the process that forks commands for one, and return its exit code as a shell gives it."""
    message = ascii((arguments, dict(os.environ), os.getcwd(), None, False))  # noqa: PTH109 - pathlib loads slowly
    if len(message) >= MAX_BYTES or not all(map(is_open, range(3))):
        os.execv(sys.executable, [sys.executable, "-m", "noughts", *arguments])  # noqa: S606 - no shell is needed
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with socket.socket(fileno=int(forker)) as connection, theirs:
        socket.send_fds(connection, [message.encode()], [0, 1, 2, theirs.fileno()])
    _process, code = ours.recv(100), int(ours.recv(100))
    return code if code >= 0 else 128 - code


def is_open(stream: int) -> bool:
    """Return whether a stream is open: a closed one cannot be sent."""
    try:
        os.fstat(stream)
    except OSError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
