from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from integrations.profilers import fake
from integrations.profilers.profiler import ListedProfiler
from integrations.profilers.sources import Listed

Serve = Callable[..., ListedProfiler]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Serve a stand-in, and return a profiler with that one source, called ``checkout-api``."""
    with ExitStack() as exits:

        def made(one: fake.Fake, type: str, path: str = "", **more: Any) -> ListedProfiler:
            url = exits.enter_context(fake.serving(one)) + path
            given: dict[str, Any] = {"kinds": {"cpu": "", "heap": ""}, "internal": True} | more
            environ = given.pop("environ", {})
            return ListedProfiler([Listed("checkout-api", type, url, **given)], environ=environ)

        yield made
