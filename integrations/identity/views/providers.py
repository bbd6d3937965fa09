"""Send people to a provider, and receive them back."""

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

WAITING = BoundedSemaphore(3)  # of the threads that serve pages; each answer of a provider may take five seconds


class Busy(Exception):
    """Too many threads are already waiting for the provider."""


@require_POST
def begin(request: HttpRequest, key: str) -> HttpResponse:
    """Send a person to a provider through a page of ours.

    A redirect in answer to the form would not work: the policy against forms that post elsewhere applies to every
    redirect that follows.
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
    """Sign in a person who returns from a provider."""
    one = openid.provider_of(provider_id)
    try:
        with _patience():
            return openid.finish(request, one)
    except (*openid.failures, Busy):
        return sign_in.refused(request, f"{one.name} sent an invalid response. {_instead()}", status=503)


@contextmanager
def _patience() -> Iterator[None]:
    """Limit how many threads wait for providers, so that one that hangs blocks no other page."""
    if not WAITING.acquire(timeout=1):
        raise Busy
    try:
        yield
    finally:
        WAITING.release()


def _instead() -> str:
    local = settings.FIREKIND.sign_in.local
    return "Try again in a moment, or use a Firekind account." if local else "Try again in a moment."
