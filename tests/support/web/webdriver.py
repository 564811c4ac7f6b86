"""Firefox and WebKit, driven over WebDriver: Firefox by Marionette, WebKit over HTTP.

Playwright drives only builds of its own of these; here they are as people have them.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
from base64 import b64decode
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Protocol

from support.deadlines import DEADLINE_SECONDS
from support.web.serving import wait_until

_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # as the standard calls an element
_WAIT = """
const isDone = arguments[arguments.length - 1];
const look = () => (EXPRESSION) ? isDone(true) : setTimeout(look, 20);
look();
"""
_PATHS = {
    "Navigate": ("POST", "/url"),
    "FindElement": ("POST", "/element"),
    "ElementClick": ("POST", "/element/{id}/click"),
    "ExecuteScript": ("POST", "/execute/sync"),
    "ExecuteAsyncScript": ("POST", "/execute/async"),
    "TakeScreenshot": ("GET", "/screenshot"),
}
_TIMEOUTS = {"script": int(1000 * DEADLINE_SECONDS), "pageLoad": int(1000 * DEADLINE_SECONDS)}


class _Connection(Protocol):
    """The connection to a browser."""

    def send(self, command: str, **values: Any) -> Any: ...


class OtherBrowser:
    """One window of a browser."""

    def __init__(self, connection: _Connection) -> None:
        self._connection = connection

    def open(self, address: str) -> None:
        self._connection.send("Navigate", url=address)

    def click(self, css: str) -> None:
        self.wait(f"document.querySelector({json.dumps(css)})?.checkVisibility()")
        found = self._connection.send("FindElement", using="css selector", value=css)
        self._connection.send("ElementClick", id=found[_ELEMENT])

    def wait(self, expression: str) -> None:
        """Wait until an expression is true on the page."""
        self._connection.send(
            "ExecuteAsyncScript", script=_WAIT.replace("EXPRESSION", expression), args=[]
        )

    def wait_for_status(self, status: str) -> None:
        self.wait(f"document.querySelector('h1')?.textContent === {json.dumps(status)}")

    def evaluate(self, expression: str) -> Any:
        return self._connection.send("ExecuteScript", script=f"return {expression}", args=[])

    def screenshot(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b64decode(self._connection.send("TakeScreenshot", full=False)))


class _Marionette:
    """Firefox's own form of WebDriver: JSON on a socket, each message after its length."""

    def __init__(self, port: int) -> None:
        with socket.create_connection(("127.0.0.1", port), timeout=2 * DEADLINE_SECONDS) as connection:
            self._file = connection.makefile("rwb")
        self._read()  # its greeting
        self._count = 0
        self.send("NewSession", timeouts=_TIMEOUTS)

    def send(self, command: str, **values: Any) -> Any:
        self._count += 1
        message = json.dumps([0, self._count, f"WebDriver:{command}", values]).encode()
        self._file.write(b"%d:%b" % (len(message), message))
        self._file.flush()
        _, _, error, result = self._read()
        if error:
            raise AssertionError(f"{command}: {error['message']}")
        return result["value"] if isinstance(result, dict) and "value" in result else result

    def close(self) -> None:
        self._file.close()

    def _read(self) -> Any:
        digits = b""
        while (one := self._file.read(1)) != b":":
            assert one, "the browser has ended"
            digits += one
        return json.loads(self._file.read(int(digits)))


class _Http:
    """WebDriver as standardised."""

    def __init__(self, port: int) -> None:
        self._port = port
        session = self._ask("POST", "/session", {"capabilities": {}})
        self._session = f"/session/{session['sessionId']}"
        self._ask("POST", f"{self._session}/timeouts", _TIMEOUTS)

    def send(self, command: str, **values: Any) -> Any:
        method, path = _PATHS[command]
        return self._ask(method, self._session + path.format(**values), values)

    def _ask(self, method: str, path: str, body: object) -> Any:
        with closing(HTTPConnection("127.0.0.1", self._port, timeout=2 * DEADLINE_SECONDS)) as connection:
            connection.request(method, path, json.dumps(body) if method == "POST" else None)
            answer = connection.getresponse()
            value = json.load(answer)["value"]
            assert answer.status == 200, f"{path}: {value}"
            return value


@contextmanager
def firefox(folder: Path) -> Iterator[OtherBrowser]:
    """Start Firefox, with a profile of its own."""
    folder.mkdir()
    (folder / "user.js").write_text('user_pref("marionette.port", 0);\n')
    port = folder / "MarionetteActivePort"
    options = ("-marionette", "-headless", "-no-remote", "-profile", folder)
    with _process(_find("firefox-esr", "firefox"), *options):
        wait_until(lambda: port.exists() and port.read_text().strip())
        with closing(_Marionette(int(port.read_text()))) as connection:
            yield OtherBrowser(connection)


@contextmanager
def webkit(folder: Path) -> Iterator[OtherBrowser]:
    """Start WebKit's small browser, on a screen that nobody sees."""
    folder.mkdir()
    port = _free_port()
    with (
        _screen() as display,
        _process(
            _find("WebKitWebDriver"),
            f"--port={port}",
            env={**os.environ, "DISPLAY": display, "HOME": str(folder)},
        ),
    ):
        wait_until(lambda: _is_listening(port))
        yield OtherBrowser(_Http(port))


@contextmanager
def _screen() -> Iterator[str]:
    reading, writing = os.pipe()
    options = ("-displayfd", str(writing), "-screen", "0", "1280x900x24")
    with os.fdopen(reading) as display, _process(_find("Xvfb"), *options, pass_fds=[writing]):
        os.close(writing)
        yield f":{display.readline().strip()}"


def _find(*names: str) -> str:
    found = next(filter(None, map(shutil.which, names)), None)
    assert found, f"{names[0]} is not installed"
    return found


@contextmanager
def _process(*command: str | Path, **options: Any) -> Iterator[None]:
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, **options
    )
    try:
        yield
    finally:
        os.killpg(process.pid, 9)
        process.wait()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def _is_listening(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except ConnectionRefusedError:
        return False
    return True
