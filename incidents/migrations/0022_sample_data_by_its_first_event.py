"""Index the first events of sample data, so that figures and lists exclude it without reading each incident's first."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("incidents", "0021_private_ones_by_their_end"),
    ]

    operations = [
        AddIndexConcurrently(
            model_name="event",
            index=models.Index(
                condition=models.Q(("n", 1), ("source", "sample")), fields=["incident"], name="event_sample"
            ),
        ),
    ]
