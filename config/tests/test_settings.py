"""Headers and cookies for browsers, and how the processes are set up."""

import pytest
from django.conf import settings
from django.http import HttpResponse, StreamingHttpResponse
from django.test import Client, RequestFactory

from config.celery import app
from config.http.compression import Compression
from config.logs import LOGGING
from config.process import looks, older


def test_the_health_page_needs_no_database(client: Client) -> None:
    response = client.get("/health")

    assert (response.status_code, response.content) == (200, b"ok")


def test_pages_come_with_a_strict_policy(client: Client) -> None:
    policy = client.get("/health").headers["Content-Security-Policy"]

    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "nonce" not in policy
    assert "frame-ancestors 'none'" in policy


def test_other_protections_are_on(client: Client) -> None:
    headers = client.get("/health").headers

    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert settings.SESSION_COOKIE_HTTPONLY


def test_what_says_nothing_else_is_kept_by_nobody(client: Client) -> None:
    assert "no-store" in client.get("/health").headers["Cache-Control"]
    assert "no-store" in client.get("/no-such-page").headers["Cache-Control"]


def test_pages_are_compressed_and_padded() -> None:
    request = RequestFactory().get("/", headers={"accept-encoding": "gzip"})
    compress = Compression(lambda _: HttpResponse())

    pages = [compress.process_response(request, HttpResponse("a page " * 1000)) for _ in range(20)]
    sizes = {len(page.content) for page in pages if isinstance(page, HttpResponse)}

    assert max(sizes) < 500
    assert len(sizes) > 1, "the length is padded by chance, against guessing from sizes"


def test_streams_of_events_are_not() -> None:
    request = RequestFactory().get("/", headers={"accept-encoding": "gzip"})
    stream = StreamingHttpResponse(iter(["data: 1\n\n"]), content_type="text/event-stream")
    compress = Compression(lambda _: HttpResponse())

    assert "Content-Encoding" not in compress.process_response(request, stream).headers


def test_every_regular_look_is_a_task() -> None:
    app.loader.import_default_modules()
    assert app.tasks.keys() >= looks.REGULAR


def test_what_an_older_version_asks_for_regularly_is_understood_and_does_nothing() -> None:
    older.round_of_looks("workflows.tasks.sweep", "one.that.nobody.knows")
    assert older.round_of_looks.name in app.tasks


def test_hints_are_never_waited_for() -> None:
    assert app.conf.task_publish_retry is False
    assert app.conf.task_ignore_result
    assert not app.conf.task_acks_late
    assert app.conf.broker_transport_options["socket_connect_timeout"] <= 1


@pytest.mark.parametrize("name", ["slack_bolt", "slack_sdk"])
def test_bodies_are_not_logged(name: str) -> None:
    loggers = LOGGING["loggers"]
    assert isinstance(loggers, dict)
    assert loggers[name]["level"] == "WARNING"
