from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("workflows", "0026_failed_by_code")]

    operations = [
        migrations.AddField(
            model_name="effect",
            name="mark",
            field=models.CharField(blank=True, db_default="", default="", max_length=32),
        ),
    ]
