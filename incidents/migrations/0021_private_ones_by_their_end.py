"""Index private incidents by their end, so that the channels to check are found without reading older incidents."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("incidents", "0020_events_in_time_with_who"),
    ]

    operations = [
        AddIndexConcurrently(
            model_name="incident",
            index=models.Index(
                condition=models.Q(("private", True)), fields=["ended_at"], name="incident_private_ended"
            ),
        ),
    ]
