from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("incidents", "0005_access"),
    ]

    operations = [
        migrations.AddField(
            model_name="person",
            name="role",
            field=models.CharField(
                choices=[("responder", "Responder"), ("manager", "Manager"), ("auditor", "Auditor")],
                default="responder",
                max_length=10,
            ),
        ),
    ]
