"""Record in columns until when a Home tab that Slack did not confirm may still appear."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("slack", "0004_under_way")]

    operations = [
        migrations.AddField(model_name="onhome", name="unconfirmed_until", field=models.DateTimeField(null=True)),
        migrations.AddField(model_name="onhome", name="earlier_until", field=models.DateTimeField(null=True)),
        migrations.AddField(
            model_name="onhome", name="drawn_without", field=models.BooleanField(db_default=False, default=False)
        ),
    ]
