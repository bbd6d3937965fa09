from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("workflows", "0024_doubted")]

    operations = [
        AddIndexConcurrently(
            "page", models.Index(condition=~models.Q(doubted_at=None), fields=["doubted_at"], name="page_doubted")
        ),
        AddIndexConcurrently(
            "page", models.Index(condition=~models.Q(withdrawn_at=None), fields=["withdrawn_at"], name="page_withdrawn")
        ),
    ]
