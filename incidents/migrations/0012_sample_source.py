from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("incidents", "0011_redacted"),
    ]

    operations = [
        migrations.AlterField(
            model_name="event",
            name="source",
            field=models.CharField(
                choices=[
                    ("slack", "Slack"),
                    ("web", "the web"),
                    ("api", "the API"),
                    ("terminal", "a terminal"),
                    ("system", "Firekind"),
                    ("sample", "sample data"),
                ],
                max_length=10,
            ),
        ),
    ]
