"""Looks that one of several processes takes for all."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("workflows", "0021_schedules_of_levels")]

    operations = [
        migrations.CreateModel(
            name="SharedLook",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("task", models.CharField(max_length=200, unique=True)),
                ("due_at", models.DateTimeField()),
            ],
        ),
    ]
