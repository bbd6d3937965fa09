"""Log lines as JSON: one object each, with the ids of what they belong to."""

from __future__ import annotations

import json
import logging
import sys
import threading
from typing import Any
from unittest.mock import patch

import pytest
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory
from kombu.asynchronous import Hub
from kombu.message import Message
from psycopg.errors import DataCorrupted, DeadlockDetected, QueryCanceled

from audit import log_ids
from config import env, logs
from config.http.request_origin import OriginMiddleware
from config.tests.test_env import GIVEN


def line(says: str, *values: object, failed: bool = False) -> dict[str, Any]:
    record = logging.LogRecord("workflows.tests", logging.WARNING, "here.py", 1, says, values, None)
    if failed:
        try:
            dict[str, int]()["nothing there"]
        except LookupError:
            record.exc_info = sys.exc_info()
    written = logs.JsonLines().format(record)
    assert "\n" not in written
    return dict(json.loads(written))


def test_a_line_says_when_how_bad_where_and_what() -> None:
    found = line("effect %s: %s", 7, "two\nlines, “quoted”")

    assert found.pop("at").endswith("+00:00")
    assert found == {"level": "warning", "logger": "workflows.tests", "says": "effect 7: two\nlines, “quoted”"}


def test_a_traceback_stays_on_its_line_and_says_where() -> None:
    told = line("it broke", failed=True)["traceback"]
    assert told.endswith("\nKeyError")
    assert "test_logs.py" in told


def test_an_outage_is_one_line_and_a_slip_of_ours_is_not() -> None:
    class Gone:
        delivery_tag = "a message"

        def ack(self, **_: object) -> None:
            raise TimeoutError

    class Heard(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            records.append(record)

    logger, records, heard = logging.getLogger("config.tests.outages"), list[logging.LogRecord](), Heard()
    heard.addFilter(logs.without_traceback)
    logger.addHandler(heard)
    try:
        Message.ack_log_error(Gone(), logger, (TimeoutError,))  # type: ignore[arg-type]  # as kombu does it
        with patch("kombu.asynchronous.hub.logger", logger):
            hub = Hub()
            hub.timer.call_after(0, Gone().ack)
            hub.fire_timers()
        for error in (
            OperationalError("the database does not answer"),
            QueryCanceled(),
            DeadlockDetected(),
            DataCorrupted(),
            ValueError(),
        ):
            logger.error("Task raised unexpected", exc_info=error)
    finally:
        logger.removeHandler(heard)
    kept = [(one.levelname, bool(one.exc_info)) for one in records]
    assert kept == [*[("WARNING", False)] * 4, *[("ERROR", True)] * 3]
    assert logs.LOGGING["handlers"]["stderr"]["filters"] == logs.written("json")["handlers"]["stderr"]["filters"]


def test_ids_are_those_of_the_block_and_of_no_other_thread() -> None:
    elsewhere: list[dict[str, Any]] = []
    with log_ids.of(incident=3):
        with log_ids.of(effect=4):
            thread = threading.Thread(target=lambda: elsewhere.append(line("there")))
            thread.start()
            thread.join()
            assert (line("x")["incident"], line("x")["effect"]) == (3, 4)
        assert "effect" not in line("x")
    assert "incident" not in line("x")
    assert "incident" not in elsewhere[0]


@pytest.mark.parametrize(
    ("given", "kept"),
    [("0123-abcd", True), ("", False), ("short", False), ("a b c d e f g h", False), ("x" * 65, False)],
)
def test_a_request_has_an_id_the_proxys_if_it_is_one(given: str, kept: bool) -> None:
    seen: list[str] = []

    def view(request: HttpRequest) -> HttpResponse:
        seen.append(line("x")["request"])
        return HttpResponse()

    OriginMiddleware(view)(RequestFactory().get("/", headers={"X-Request-ID": given}))

    assert (seen == [given]) is kept
    assert "request" not in line("x")


def test_the_form_is_a_setting() -> None:
    assert env.read(GIVEN).log_format == "line"
    assert env.read({**GIVEN, "LOG_FORMAT": "json"}).log_format == "json"
    with pytest.raises(env.SettingError, match="LOG_FORMAT"):
        env.read({**GIVEN, "LOG_FORMAT": "xml"})
    for form in logs.FORMS:
        assert logs.written(form)["handlers"]["stderr"]["formatter"] in logs.LOGGING["formatters"]
