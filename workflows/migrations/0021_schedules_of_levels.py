"""Store which schedules each level of an escalation policy pages; older processes write policies without them."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("workflows", "0020_unplanned"),
    ]

    operations = [
        migrations.AddField(
            model_name="pagertarget",
            name="schedules",
            field=models.JSONField(blank=True, db_default=[], default=list),
        ),
    ]
