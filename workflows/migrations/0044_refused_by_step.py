"""Index the newest refusal and the newest success of each step, which every plan reads."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

PRIVATE = models.ExpressionWrapper(models.Q(("spec__contains", {"private": True})), output_field=models.BooleanField())
HERE = models.Q(("spec__has_key", "channel"), _negated=True)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("workflows", "0043_absent_groups")]

    operations = [
        AddIndexConcurrently(
            "effect",
            models.Index(
                models.F("method"),
                PRIVATE,
                models.F("error_code"),
                models.F("tried_at"),
                condition=models.Q(("state", "failed"), ("tried_at__isnull", False), HERE),
                name="effect_refused",
            ),
        ),
        AddIndexConcurrently(
            "effect",
            models.Index(
                models.F("method"),
                PRIVATE,
                models.F("tried_at"),
                condition=models.Q(("error_code", ""), ("state", "done"), ("tried_at__isnull", False), HERE),
                name="effect_succeeded",
            ),
        ),
    ]
