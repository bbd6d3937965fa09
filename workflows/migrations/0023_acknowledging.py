"""Who asked us to acknowledge a page in their name."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("incidents", "0024_found_by_their_index"), ("workflows", "0022_shared_looks")]

    operations = [
        migrations.AddField(
            model_name="page",
            name="ack_asked_by",
            field=models.ForeignKey(
                null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="incidents.person"
            ),
        ),
        migrations.AddField(model_name="page", name="ack_asked_at", field=models.DateTimeField(null=True)),
        migrations.AddField(
            model_name="page", name="ack_turn", field=models.PositiveIntegerField(db_default=0, default=0)
        ),
    ]
