from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("workflows", "0037_pages_ended")]

    operations = [
        migrations.CreateModel(
            name="ChannelTurn",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("channel", models.BigIntegerField()),
            ],
        ),
        AddIndexConcurrently(
            "resource",
            models.Index(condition=models.Q(("kind", "channel")), fields=["id"], name="channel_in_turn"),
        ),
    ]
