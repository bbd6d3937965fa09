import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("incidents", "0006_role"),
        ("slack", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="OnHome",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("chat_id", models.CharField(max_length=40)),
                (
                    "incident",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="incidents.incident"
                    ),
                ),
            ],
            options={
                "verbose_name": "on a Home tab",
                "verbose_name_plural": "on Home tabs",
                "constraints": [models.UniqueConstraint(fields=["chat_id", "incident"], name="once_on_a_home")],
            },
        ),
    ]
