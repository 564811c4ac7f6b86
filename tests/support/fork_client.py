"""The command in a shell script: has it forked, with the streams, environment and folder of this process.

Runs alone, without what Python adds at its start, which would take longer than most commands.
"""

from __future__ import annotations

import os
import socket
import sys


def main(forker: str, *arguments: str) -> int:
    """Ask the process that forks commands for one, and return its exit code as a shell gives it."""
    try:
        for stream in range(3):
            os.fstat(stream)
    except OSError:  # a closed stream cannot be sent
        os.execv(sys.executable, [sys.executable, "-m", "noughts", *arguments])  # noqa: S606 - no shell is needed
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    message = ascii((arguments, dict(os.environ), os.getcwd(), None, False))  # noqa: PTH109 - pathlib loads slowly
    with socket.socket(fileno=int(forker)) as connection, theirs:
        socket.send_fds(connection, [message.encode()], [0, 1, 2, theirs.fileno()])
    _process, code = ours.recv(100), int(ours.recv(100))
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
