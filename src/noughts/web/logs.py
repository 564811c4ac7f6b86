"""The server's log: one line of JSON for each thing that happened. No secret ever gets near it."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from noughts.web.settings import Settings


STRANGE = ("Invalid HTTP request", "Unsupported upgrade", "No supported WebSocket")


class Lines(logging.Formatter):
    """A record as a line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "data", {}),
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=True)


def set_up(settings: Settings) -> None:
    """Send what noughts and its server have to say to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines())
    for name in ("noughts.web", "uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers = [handler] if name != "uvicorn.error" else []
        logger.propagate = name == "uvicorn.error"
        logger.setLevel(settings.log.upper())
    # What a stranger sends that is no request is answered, and is no news.
    logging.getLogger("uvicorn.error").addFilter(
        lambda record: settings.log == "debug" or not record.getMessage().startswith(STRANGE)
    )
