"""Store the time zone that the chat gives for each person; processes of an older version write people without one."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("incidents", "0022_sample_data_by_its_first_event"),
    ]

    operations = [
        migrations.AddField(
            model_name="person",
            name="zone",
            field=models.CharField(blank=True, db_default="", default="", max_length=64),
        ),
    ]
