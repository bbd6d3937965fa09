from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("workflows", "0041_alert_ruled_at")]

    operations = [
        migrations.AddField(
            model_name="pageruser",
            name="silent",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
