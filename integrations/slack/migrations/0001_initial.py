from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Delivery",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(max_length=200, unique=True)),
                ("received_at", models.DateTimeField()),
                ("words", models.TextField(blank=True)),
            ],
            options={
                "verbose_name_plural": "deliveries",
                "indexes": [models.Index(fields=["received_at"], name="delivery_by_age")],
            },
        ),
    ]
