"""Check that an incident is locked before anything of it changes, as recording an effect does."""

from __future__ import annotations

import re
from typing import Final

from django.test.utils import CaptureQueriesContext

HOLDS: Final = re.compile(r'FROM "?incidents_incident"?.* FOR NO KEY UPDATE|^UPDATE "incidents_incident"', re.DOTALL)
CHANGES: Final = re.compile(r'^\s*(INSERT INTO|UPDATE|DELETE FROM) "?workflows_(resource|effect|page)\b')


def assert_the_incident_is_held_first(asked: CaptureQueriesContext) -> None:
    """Fail if the queries changed nothing, or changed something before the incident was locked."""
    said = [query["sql"] for query in asked]
    changes = [n for n, sql in enumerate(said) if CHANGES.search(sql)]
    assert changes, "nothing was changed"
    assert [n for n, sql in enumerate(said) if HOLDS.search(sql) and n < changes[0]], said[changes[0]]
