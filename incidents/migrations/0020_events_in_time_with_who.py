"""Add an entry's author to the index by time, so that who came first is read from the index alone."""

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("incidents", "0019_words_are_read_by_the_search_alone"),
    ]

    operations = [
        AddIndexConcurrently(
            model_name="event",
            index=models.Index(fields=["incident", "at", "n"], include=["by"], name="event_in_time_by"),
        ),
        RemoveIndexConcurrently(
            model_name="event",
            name="event_in_time",
        ),
    ]
