from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("evidence", "0005_counts")]

    operations = [
        AddIndexConcurrently(
            "evidence",
            models.Index(
                fields=["id"],
                condition=models.Q(state="withdrawn") & ~models.Q(original="", tree=""),
                name="evidence_still_stored",
            ),
        ),
    ]
