"""Admit requests with a valid token, the right scope, and within the rate limit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Concatenate, Final, ParamSpec

from django.core.exceptions import TooManyFieldsSent
from django.http import HttpRequest, HttpResponse, QueryDict
from django.views.decorators.csrf import csrf_exempt

from evidence.models import Token
from evidence.models.token import Scope
from incidents import lifecycle, still_seen
from integrations.api import answers, asking, query_check
from integrations.api.query_schemas import Schema
from integrations.identity import tries

P = ParamSpec("P")
OK: Final = 200
PACE: Final = tries.TryLimit("token", 300, 60)  # requests per token, across all doors and processes
Door = Callable[Concatenate[HttpRequest, Token, P], HttpResponse]


def admits(
    scope: Scope, **methods: Sequence[Schema]
) -> Callable[[Door[P]], Callable[Concatenate[HttpRequest, P], HttpResponse]]:
    """Restrict a door to these methods, each with its parameters, and to tokens with this scope.

    Nothing is looked up before those checks pass. If the token's owner can no longer see what the door read by the time
    it answers, the answer is 404.
    """

    def guarded(door: Door[P]) -> Callable[Concatenate[HttpRequest, P], HttpResponse]:
        @csrf_exempt  # no session to abuse: the caller sends the token explicitly
        @wraps(door)
        def asked(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            takes = methods.get("GET" if request.method == "HEAD" else request.method or "")
            if takes is None:
                return answers.not_allowed(*methods)
            token = asking.token_of(request.headers.get("Authorization", ""))
            if token is None:
                return answers.unknown_token()
            if (refusal := _refused(request, token, scope, takes)) is not None:
                return refusal
            try:
                with still_seen.finding() as found:
                    answer = door(request, token, *args, **kwargs)
            except lifecycle.NotThere:
                return answers.not_found()
            except lifecycle.BadInput as wrong:
                return answers.bad_parameter(wrong)
            is_read = request.method != "POST" and answer.status_code == OK
            return answers.not_found() if is_read and not found.is_seen(by=token.person) else answer

        return asked

    return guarded


def _refused(request: HttpRequest, token: Token, scope: Scope, takes: Sequence[Schema]) -> HttpResponse | None:
    if seconds := wait_s(token):
        return answers.too_many(seconds)
    if scope not in token.scopes:
        return answers.beyond(scope)
    try:
        query_check.check(_query(request), takes)
    except lifecycle.BadInput as wrong:
        return answers.bad_parameter(wrong)
    return None


def _query(request: HttpRequest) -> QueryDict:
    try:
        return request.GET
    except TooManyFieldsSent:
        raise lifecycle.BadInput("", "Send fewer parameters.") from None


def wait_s(token: Token) -> int:
    """Count a request of a token; return 0, or the seconds to wait if it exceeds the limit."""
    return tries.take({PACE: str(token.pk)})
