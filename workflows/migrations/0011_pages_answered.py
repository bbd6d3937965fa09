from typing import Any

import django.contrib.postgres.fields
from django.db import migrations, models
from django.db.models import F


def note_answers(apps: Any, schema_editor: Any) -> None:
    """Someone is on every page that is acknowledged, so it was answered."""
    found = apps.get_model("workflows", "Page").objects.filter(status="acknowledged")
    found.update(answered_at=F("status_at"), answered_by=F("status_by"))


def ids() -> Any:
    return django.contrib.postgres.fields.ArrayField(
        base_field=models.CharField(max_length=64), default=list, size=None
    )


class Migration(migrations.Migration):
    dependencies = [
        ("workflows", "0010_attempts"),
    ]

    operations = [
        migrations.AddField(model_name="page", name="answered_at", field=models.DateTimeField(null=True)),
        migrations.AddField(model_name="page", name="answered_by", field=models.CharField(blank=True, max_length=200)),
        migrations.AddField(model_name="page", name="withdrawn_at", field=models.DateTimeField(null=True)),
        migrations.AddField(model_name="page", name="rung_ids", field=ids()),
        migrations.AddField(model_name="page", name="now_ids", field=ids()),
        migrations.AddField(model_name="page", name="rung_at", field=models.DateTimeField(null=True)),
        migrations.RunPython(note_answers, migrations.RunPython.noop),
    ]
