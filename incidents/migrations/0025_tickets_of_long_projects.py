from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("incidents", "0024_found_by_their_index")]

    operations = [
        migrations.AlterField(
            model_name="followup",
            name="ticket",
            field=models.CharField(blank=True, db_default="", max_length=300),
        ),
    ]
