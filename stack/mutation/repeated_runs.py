"""A pytest plugin for mutation runs, which repeat the same tests for each change: few examples, and one database."""

from __future__ import annotations

from typing import Any, Final

import pytest
from hypothesis import is_hypothesis_test, settings

EXAMPLES: Final = 8
DATABASE: Final = "test_mutants"


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Use one database for every run: kept by `--reuse-db`, it would be named after the one of the run before."""
    from django.db import connections

    connections["default"].settings_dict["TEST"]["NAME"] = DATABASE


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give every law at most so many examples."""
    for item in items:
        law: Any = getattr(item, "obj", None)
        if is_hypothesis_test(law):
            known = law._hypothesis_internal_use_settings  # noqa: SLF001 (Hypothesis refuses settings a second time)
            few = settings(known, max_examples=min(known.max_examples, EXAMPLES))
            law._hypothesis_internal_use_settings = few  # noqa: SLF001 (the same)
