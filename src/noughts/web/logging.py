"""The server's log: one line of JSON for each event, never with a secret in it."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

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


def log_to_stderr(level: str) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    log.handlers = [handler]
    log.propagate = False
    log.setLevel(level.upper())
