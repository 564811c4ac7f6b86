"""A small curl, with the options that docs/api.md uses, for machines without one."""

from __future__ import annotations

import sys
from getopt import gnu_getopt
from http.client import HTTPConnection
from urllib.parse import urlsplit

JSON = {"Content-Type": "application/json", "Accept": "application/json"}


def curl(arguments: list[str]) -> None:
    """Ask as the arguments say, and print what is answered as it comes."""
    options, (url,) = gnu_getopt(arguments, "sNH:", ["json="])
    headers, body = {}, None
    for option, value in options:
        if option == "--json":
            headers.update(JSON)
            body = value.encode()
        elif option == "-H":
            name, _, said = value.partition(":")
            headers[name] = said.strip()
    place = urlsplit(url)
    line = HTTPConnection(place.hostname or "", place.port)
    path = f"{place.path}?{place.query}" if place.query else place.path
    line.request("GET" if body is None else "POST", path, body, headers)
    answer = line.getresponse()
    while came := answer.read1():
        sys.stdout.buffer.write(came)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    curl(sys.argv[1:])
