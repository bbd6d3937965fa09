from __future__ import annotations

from collections.abc import Iterator

import pytest

from integrations.tests import house as building


@pytest.fixture
def house(db: None) -> Iterator[building.House]:
    """A house with the shipped types and a workspace that has all their groups."""
    with building.house() as made:
        yield made
