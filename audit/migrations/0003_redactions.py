"""Record who redacted a kept row, and a hash of what is left: append-only like everything that is sealed."""

from typing import ClassVar

from django.db import migrations, models
from django.db.migrations.operations.base import Operation

GUARD = """
CREATE TRIGGER audit_redaction_rows_kept BEFORE UPDATE OR DELETE ON audit_redaction
    FOR EACH ROW EXECUTE FUNCTION audit_is_kept();
CREATE TRIGGER audit_redaction_table_kept BEFORE TRUNCATE ON audit_redaction
    FOR EACH STATEMENT EXECUTE FUNCTION audit_is_kept();
ALTER TABLE audit_redaction ENABLE ALWAYS TRIGGER audit_redaction_rows_kept;
ALTER TABLE audit_redaction ENABLE ALWAYS TRIGGER audit_redaction_table_kept;
"""
UNGUARD = """
DROP TRIGGER audit_redaction_rows_kept ON audit_redaction;
DROP TRIGGER audit_redaction_table_kept ON audit_redaction;
"""


class Migration(migrations.Migration):
    dependencies: ClassVar[list[tuple[str, str]]] = [("audit", "0002_kept")]
    operations: ClassVar[list[Operation]] = [
        migrations.CreateModel(
            name="Redaction",
            fields=[
                ("n", models.BigAutoField(primary_key=True, serialize=False)),
                ("at", models.DateTimeField()),
                ("kept", models.CharField(max_length=24)),
                ("row", models.BigIntegerField()),
                ("by", models.BigIntegerField(db_column="by_id", null=True)),
                ("by_name", models.CharField(blank=True, max_length=200)),
                ("was", models.CharField(max_length=64)),
                ("remains", models.CharField(max_length=64)),
            ],
            options={"constraints": [models.UniqueConstraint(fields=("kept", "row"), name="redacted_once")]},
        ),
        migrations.RunSQL(GUARD, UNGUARD),
    ]
