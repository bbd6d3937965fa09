"""To a provider and back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET, require_POST

from integrations.identity import tries
from integrations.identity.providers import openid
from integrations.identity.views import sign_in

WAITING = BoundedSemaphore(3)  # of the threads that answer pages; each waits five seconds at most for each answer


class Busy(Exception):
    """Many wait for the provider already."""


@require_POST
def begin(request: HttpRequest, key: str) -> HttpResponse:
    """Send a person to a provider, by a page of ours.

    A redirect would answer a form, and the policy against forms to elsewhere holds for all redirects after one.
    """
    one = openid.provider_of(key)
    if seconds := tries.take({tries.BEGIN: sign_in.where(request)}):
        return sign_in.refused(request, f"Too many attempts. Try again in {tries.wait(seconds)}.", status=429)
    try:
        with _patience():
            address = openid.begin(request, one, back=sign_in.back(request))
    except (*openid.failures, Busy):
        return sign_in.refused(request, f"{one.name} isn't responding. {_instead()}", status=503)
    response = render(request, "onward.html", {"provider": one, "address": address})
    response.headers["Cache-Control"] = "no-store, private"
    return response


@require_GET
def back(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Sign in a person who comes back from a provider."""
    one = openid.provider_of(provider_id)
    try:
        with _patience():
            return openid.finish(request, one)
    except (*openid.failures, Busy):
        return sign_in.refused(request, f"{one.name} sent an invalid response. {_instead()}", status=503)


@contextmanager
def _patience() -> Iterator[None]:
    """Wait for a provider in few threads at once: one that hangs blocks no other page."""
    if not WAITING.acquire(timeout=1):
        raise Busy
    try:
        yield
    finally:
        WAITING.release()


def _instead() -> str:
    local = settings.FIREKIND.sign_in.local
    return "Try again in a moment, or use a Firekind account." if local else "Try again in a moment."
