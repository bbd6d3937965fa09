from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("workflows", "0009_members")]

    operations = [
        migrations.AddField(
            model_name="effect",
            name="unanswered",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
    ]
