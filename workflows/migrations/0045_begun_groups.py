"""Record the change of a group that is being written, so that it is known as ours if its writer is killed."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("workflows", "0044_refused_by_step")]

    operations = [migrations.AddField("grouprule", "begun", models.JSONField(null=True))]
