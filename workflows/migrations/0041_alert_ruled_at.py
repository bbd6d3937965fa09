from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("workflows", "0040_alert_merged_into")]

    operations = [
        migrations.AddField(
            model_name="alert",
            name="ruled_at",
            field=models.DateTimeField(null=True),
        ),
    ]
