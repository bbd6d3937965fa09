"""A hub for the tests of streams."""

from __future__ import annotations

from types import ModuleType

import pytest

from incidents.live.listening import Hub


def told_by_the_test(monkeypatch: pytest.MonkeyPatch, streams: ModuleType) -> Hub:
    """Give a module's streams a hub that only the test notifies."""
    made = Hub()
    monkeypatch.setattr(streams, "hub", made)
    monkeypatch.setattr(made, "_ensure", lambda: None)
    return made
