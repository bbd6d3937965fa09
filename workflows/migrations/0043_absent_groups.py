from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("workflows", "0042_pager_user_silent")]

    operations = [
        migrations.AddField(
            model_name="directoryread",
            name="disabled",
            field=models.JSONField(blank=True, db_default=[], default=list),
        ),
        migrations.AddField(
            model_name="directoryread",
            name="groupless",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
