from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("evidence", "0004_plain_labels"),
    ]

    operations = [
        migrations.AlterField(
            model_name="evidence",
            name="kind",
            field=models.CharField(
                choices=[
                    ("profile", "Profile"),
                    ("benchmark", "Benchmark"),
                    ("load", "Load test"),
                    ("counts", "Counts"),
                    ("sweep", "Sweep"),
                    ("picture", "Picture"),
                    ("link", "Link"),
                    ("file", "File"),
                ],
                default="file",
                max_length=10,
            ),
        ),
    ]
