"""Content security policies for individual responses, which differ from the site's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Concatenate, ParamSpec, cast

from csp.decorators import csp_replace, csp_update
from django.http import HttpRequest
from django.http.response import HttpResponseBase

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponseBase]
Policy = Mapping[str, Sequence[str]]


def under(policy: Policy) -> Callable[[View[P]], View[P]]:
    """Respond under this policy instead of the usual one."""
    made: Callable[[View[P]], View[P]] = cast("Any", csp_replace(dict(policy)))
    return made


def also(policy: Policy) -> Callable[[View[P]], View[P]]:
    """Respond under the usual policy with something more allowed."""
    made: Callable[[View[P]], View[P]] = cast("Any", csp_update(dict(policy)))
    return made


def locked(view: View[P]) -> View[P]:
    """Respond with a download: opened in a browser, it may do nothing at all."""
    policy = {"default-src": ["'none'"], "sandbox": [""], "frame-ancestors": ["'none'"]}
    made: View[P] = cast("Any", csp_replace(policy))(view)
    return made
