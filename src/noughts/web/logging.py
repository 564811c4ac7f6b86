"""The server's log: a line for each event, plain on a terminal and JSON elsewhere, without secrets."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

from noughts.core.errors import printable

log = logging.getLogger("noughts.web")

MAX_PROBLEM_CHARACTERS = 200


def details(**data: object) -> dict[str, object]:
    """Return what a record of the log has apart from its event, for `extra`."""
    return {"data": data}


def report(event: str, problem: object, level: int = logging.WARNING, **data: object) -> None:
    log.log(level, event, extra=details(**data, problem=str(problem)[:MAX_PROBLEM_CHARACTERS]))


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "data", {}),
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=True)


class PlainLines(logging.Formatter):
    """Lines for a person at a terminal, such as `09:41:07 started (store sqlite)`."""

    def format(self, record: logging.LogRecord) -> str:
        level = "" if record.levelno == logging.INFO else f"{record.levelname.lower()}: "
        data = ", ".join(f"{name} {value}" for name, value in getattr(record, "data", {}).items())
        time = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")  # noqa: DTZ006 - it is local
        line = printable(f"{time} {level}{record.getMessage()}{f' ({data})' if data else ''}")
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def log_to_stderr(level: str, form: str) -> None:
    """Log in a form: plain, json, or auto, which is plain on a terminal."""
    is_plain = form == "plain" or (form == "auto" and bool(sys.stderr) and sys.stderr.isatty())
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(PlainLines() if is_plain else JsonLines())
    log.handlers = [handler]
    log.propagate = False
    log.setLevel(level.upper())


class Outage:
    """Logs the beginning and the end of an outage of the store, each with one line."""

    def __init__(self, what: str) -> None:
        self._what = what
        self.is_on = False

    def begin(self, problem: object) -> None:
        if not self.is_on:
            self.is_on = True
            report("store unavailable", problem, what=self._what)

    def end(self) -> None:
        if self.is_on:
            self.is_on = False
            log.info("store available again", extra=details(what=self._what))
