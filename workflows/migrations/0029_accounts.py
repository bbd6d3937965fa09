from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("workflows", "0028_workspace")]

    operations = [
        migrations.AddField(
            model_name="page",
            name="elsewhere",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="pagerread",
            name="connection",
            field=models.CharField(blank=True, db_default="", default="", max_length=32),
        ),
    ]
