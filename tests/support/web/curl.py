"""A small curl, with the options that docs/api.md uses, for machines without one."""

from __future__ import annotations

import sys
from getopt import gnu_getopt
from http.client import HTTPConnection
from urllib.parse import urlsplit

JSON = {"Content-Type": "application/json", "Accept": "application/json"}


def curl(arguments: list[str]) -> None:
    options, (url,) = gnu_getopt(arguments, "sNH:", ["json="])
    headers, body = {}, None
    for option, value in options:
        if option == "--json":
            headers.update(JSON)
            body = value.encode()
        elif option == "-H":
            name, _, text = value.partition(":")
            headers[name] = text.strip()
    place = urlsplit(url)
    connection = HTTPConnection(place.hostname or "", place.port)
    path = f"{place.path}?{place.query}" if place.query else place.path
    connection.request("GET" if body is None else "POST", path, body, headers)
    answer = connection.getresponse()
    while data := answer.read1():
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    curl(sys.argv[1:])
