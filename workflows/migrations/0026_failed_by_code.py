from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("workflows", "0025_doubted_by_index")]

    operations = [
        AddIndexConcurrently(
            "effect",
            models.Index(condition=models.Q(state="failed"), fields=["error_code"], name="effect_failed_by_code"),
        ),
    ]
