from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("slack", "0003_caught_up")]

    operations = [
        migrations.AddField(
            model_name="onhome",
            name="under_way",
            field=models.CharField(blank=True, db_default="", default="", max_length=16),
        ),
    ]
