"""A pytest plugin for mutation runs, which repeat the same tests for each mutant: few examples, and one database."""

from __future__ import annotations

from typing import Final

import pytest

from stack import testing

EXAMPLES: Final = 8
DATABASE: Final = "test_mutants"


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Use one database for every run: kept by `--reuse-db`, it would be named after the previous run's."""
    from django.db import connections

    connections["default"].settings_dict["TEST"]["NAME"] = DATABASE


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Limit every law's number of examples."""
    testing.try_few_examples(items, most=EXAMPLES)
