from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("workflows", "0023_acknowledging")]

    operations = [
        migrations.AddField(model_name="page", name="doubted_at", field=models.DateTimeField(null=True)),
    ]
