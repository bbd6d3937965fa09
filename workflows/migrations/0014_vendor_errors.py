from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("workflows", "0013_pages_joined"),
    ]

    operations = [
        migrations.CreateModel(
            name="VendorErrors",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("port", models.CharField(max_length=20)),
                ("code", models.CharField(max_length=80)),
                ("count", models.PositiveBigIntegerField(default=0)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("port", "code"), name="vendor_errors_once")],
            },
        ),
    ]
