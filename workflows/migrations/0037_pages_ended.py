from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("workflows", "0036_older_read")]

    operations = [
        AddIndexConcurrently(
            "page",
            models.Index(
                condition=models.Q(("status", "resolved"), models.Q(("pager_id", ""), _negated=True)),
                fields=["status_at"],
                name="page_ended",
            ),
        ),
    ]
