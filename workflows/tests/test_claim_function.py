"""The function that claims effects is what the code says, in every migrated database."""

from __future__ import annotations

import pytest
from django.db import connection

from workflows.effects import ready


@pytest.mark.django_db
def test_the_function_in_the_database_is_that_of_the_code() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT prosrc FROM pg_proc WHERE proname = 'workflows_claim'")
        (made,) = [row[0] for row in cursor.fetchall()]
    says = "A function that workers call is never changed: make one of another name, for old processes call this one"
    assert made.strip() == ready.CLAIM_BODY.strip(), says
