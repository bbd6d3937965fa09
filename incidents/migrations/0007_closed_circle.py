import django.db.models.deletion
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps


def close(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Close private incidents as they are: current participants stay, and no group lets anyone in any more."""
    apps.get_model("incidents", "Incident").objects.filter(private=True).update(closed_at=models.F("typed_at"))


class Migration(migrations.Migration):
    dependencies = [("incidents", "0006_role")]

    operations = [
        migrations.AddField("incident", "closed_at", models.DateTimeField(null=True)),
        migrations.AddField(
            "participant",
            "by",
            models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="incidents.person"
            ),
        ),
        migrations.AlterField(
            "participant",
            "reason",
            models.CharField(
                choices=[
                    ("declared", "declared it"),
                    ("lead", "leads"),
                    ("role", "holds a role"),
                    ("group", "in a group the type brings in"),
                    ("one-of", "chosen as the one of a group"),
                    ("picked", "brought in"),
                    ("joined", "joined the channel"),
                    ("paged", "paged"),
                    ("glass", "broke the glass"),
                    ("retyped", "retyped it"),
                    ("let-in", "let in"),
                ],
                max_length=10,
            ),
        ),
        migrations.AddField("accessrequest", "rule", models.CharField(blank=True, max_length=200)),
        migrations.AddField("accessrequest", "role", models.CharField(blank=True, max_length=80)),
        migrations.RunPython(close, migrations.RunPython.noop, elidable=True),
    ]
