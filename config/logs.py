"""What is logged: what happened, never what people wrote. Bodies stay out of every logger."""

import json
import logging
from datetime import UTC, datetime
from typing import Any, Final

from audit import log_ids
from incidents.outages import database_watch

FORMS: Final = ("line", "json")
# What kombu says of a broker that is gone or refuses: a message stays on it, or it is not looked after this time.
UNTAKEN: Final = ("Couldn't ack", "Couldn't reject", "Error in timer")


class JsonLines(logging.Formatter):
    """One JSON object a line: when, how bad, which logger, what, and the ids of request, incident and effect."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line; a traceback is one string in it."""
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "says": record.getMessage(),
            **log_ids.now(),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def without_traceback(record: logging.LogRecord) -> bool:
    """Say in one line that database or broker were gone: what was to be done is found again once they are back.

    A deadlock is a slip of ours, and keeps its traceback.
    """
    error = record.exc_info[1] if record.exc_info else None
    if (database_watch.says_so(error) and not database_watch.is_deadlock(error)) or str(record.msg).startswith(UNTAKEN):
        record.exc_info = record.exc_text = None
        record.levelno, record.levelname = logging.WARNING, "WARNING"
    return True


def written(form: str) -> dict[str, Any]:
    """Return what Django is to set up, with lines in one of ``FORMS``."""
    return {**LOGGING, "handlers": {"stderr": {**STDERR, "formatter": form}}}


STDERR: Final = {"class": "logging.StreamHandler", "filters": ["outages"]}
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{levelname} {name}: {message}", "style": "{"}, "json": {"()": JsonLines}},
    "handlers": {"stderr": {**STDERR, "formatter": "line"}},
    "filters": {"outages": {"()": "django.utils.log.CallbackFilter", "callback": without_traceback}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {
        "incidents": {"level": "INFO"},
        "workflows": {"level": "INFO"},
        "integrations": {"level": "INFO"},
        # Both print whole requests below this level, tokens and people's words included.
        "slack_bolt": {"level": "WARNING"},
        "slack_sdk": {"level": "WARNING"},
        # A refused request is the sender's business; its path may carry a codename.
        "django.request": {"level": "ERROR"},
        "django.security.DisallowedHost": {"level": "CRITICAL"},
    },
}
