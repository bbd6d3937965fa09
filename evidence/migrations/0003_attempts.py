from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evidence", "0002_token_scopes")]

    operations = [
        migrations.RenameField(model_name="evidence", old_name="attempt", new_name="token"),
        migrations.AlterField(
            model_name="evidence",
            name="token",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="evidence",
            name="unanswered",
            field=models.PositiveSmallIntegerField(default=0),
        ),
    ]
