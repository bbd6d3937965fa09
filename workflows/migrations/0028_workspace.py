from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("workflows", "0027_marks")]

    operations = [
        migrations.AddField(
            model_name="directoryread",
            name="workspace",
            field=models.CharField(blank=True, db_default="", default="", max_length=32),
        ),
    ]
