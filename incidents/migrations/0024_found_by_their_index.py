"""Index what lists are filtered by: drills, a service, a group that brought someone in, what was resolved recently."""

import django.contrib.postgres.indexes
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models.functions import Upper


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("incidents", "0023_zones_of_people"),
    ]

    operations = [
        AddIndexConcurrently(
            model_name="incident",
            index=models.Index(
                models.F("active").desc(),
                models.F("declared_at").desc(),
                condition=models.Q(("is_drill", True)),
                name="incident_drills",
            ),
        ),
        AddIndexConcurrently(
            model_name="incident",
            index=models.Index(
                models.F("ended_at").desc(),
                condition=models.Q(("is_drill", False), ("status", "resolved")),
                name="incident_resolved",
            ),
        ),
        AddIndexConcurrently(
            model_name="incident",
            index=django.contrib.postgres.indexes.GinIndex(fields=["services"], name="incident_services"),
        ),
        AddIndexConcurrently(
            model_name="participant",
            index=models.Index(Upper("detail"), condition=models.Q(("reason", "group")), name="came_by_group"),
        ),
    ]
