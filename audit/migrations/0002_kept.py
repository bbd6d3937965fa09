"""The database itself keeps audit entries and the links of their chain from being changed.

ENABLE ALWAYS: an ordinary trigger is skipped under ``session_replication_role = replica``.
"""

from typing import ClassVar

from django.db import migrations
from django.db.migrations.operations.base import Operation

TABLES = ("audit_entry", "audit_seal")
REFUSE = """
CREATE FUNCTION audit_is_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit is append-only: % refused', TG_OP USING ERRCODE = 'restrict_violation';
END $$;
"""
GUARD = """
CREATE TRIGGER {table}_rows_kept BEFORE UPDATE OR DELETE ON {table}
    FOR EACH ROW EXECUTE FUNCTION audit_is_kept();
CREATE TRIGGER {table}_table_kept BEFORE TRUNCATE ON {table}
    FOR EACH STATEMENT EXECUTE FUNCTION audit_is_kept();
ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_rows_kept;
ALTER TABLE {table} ENABLE ALWAYS TRIGGER {table}_table_kept;
"""
UNGUARD = """
DROP TRIGGER {table}_rows_kept ON {table};
DROP TRIGGER {table}_table_kept ON {table};
"""


class Migration(migrations.Migration):
    dependencies: ClassVar[list[tuple[str, str]]] = [("audit", "0001_initial")]
    operations: ClassVar[list[Operation]] = [
        migrations.RunSQL(REFUSE, "DROP FUNCTION audit_is_kept()"),
        *(migrations.RunSQL(GUARD.format(table=one), UNGUARD.format(table=one)) for one in TABLES),
    ]
