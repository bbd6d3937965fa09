import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("incidents", "0011_redacted"),
        ("slack", "0002_on_home"),
    ]

    operations = [
        migrations.CreateModel(
            name="CaughtUp",
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
                "verbose_name_plural": "caught up",
                "constraints": [models.UniqueConstraint(fields=["chat_id", "incident"], name="caught_up_once")],
            },
        ),
    ]
