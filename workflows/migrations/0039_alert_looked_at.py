from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("workflows", "0038_channel_turn")]

    operations = [
        migrations.AddField(
            model_name="alert",
            name="looked_at",
            field=models.DateTimeField(null=True),
        ),
    ]
