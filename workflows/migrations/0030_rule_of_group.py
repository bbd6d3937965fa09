from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("workflows", "0029_accounts")]

    operations = [
        migrations.AddField(
            model_name="grouprule",
            name="chat_id",
            field=models.CharField(blank=True, db_default="", default="", max_length=64),
        ),
    ]
