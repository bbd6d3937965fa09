"""Every write updates all indexes of its table, so no index may repeat what another one covers."""

from __future__ import annotations

import pytest
from django.apps import apps
from django.db import connection

from config.env import ROOT

REPEATED = """
    SELECT one.indexrelid::regclass::text, more.indexrelid::regclass::text
      FROM pg_index AS one JOIN pg_index AS more ON more.indrelid = one.indrelid AND more.indexrelid <> one.indexrelid
     WHERE one.indrelid::regclass::text = ANY(%s) AND NOT one.indisunique
       AND one.indpred IS NULL AND more.indpred IS NULL AND one.indexprs IS NULL AND more.indexprs IS NULL
       AND starts_with(more.indkey::text || ' ', one.indkey::text || ' ')
       AND starts_with(more.indclass::text || ' ', one.indclass::text || ' ')
       AND starts_with(more.indoption::text || ' ', one.indoption::text || ' ')
"""


@pytest.mark.django_db
def test_no_index_repeats_the_start_of_another() -> None:
    ours = [app for app in apps.get_app_configs() if ROOT / app.name.split(".")[0] in ROOT.iterdir()]
    tables = [model._meta.db_table for app in ours for model in app.get_models()]
    assert "workflows_effect" in tables
    with connection.cursor() as cursor:
        cursor.execute(REPEATED, [tables])
        found = cursor.fetchall()
    assert not found, f"Give the foreign key of the first of each pair db_index=False: {found}"
