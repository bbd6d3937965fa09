"""The database itself keeps the timeline append-only.

ENABLE ALWAYS: an ordinary trigger is skipped under ``session_replication_role = replica``.
"""

from typing import ClassVar

from django.db import migrations
from django.db.migrations.operations.base import Operation

GUARD = """
CREATE FUNCTION incidents_event_is_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the timeline is append-only: % refused', TG_OP USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER incidents_event_rows_kept BEFORE UPDATE OR DELETE ON incidents_event
    FOR EACH ROW EXECUTE FUNCTION incidents_event_is_kept();
CREATE TRIGGER incidents_event_table_kept BEFORE TRUNCATE ON incidents_event
    FOR EACH STATEMENT EXECUTE FUNCTION incidents_event_is_kept();
ALTER TABLE incidents_event ENABLE ALWAYS TRIGGER incidents_event_rows_kept;
ALTER TABLE incidents_event ENABLE ALWAYS TRIGGER incidents_event_table_kept;
"""

UNGUARD = """
DROP TRIGGER incidents_event_rows_kept ON incidents_event;
DROP TRIGGER incidents_event_table_kept ON incidents_event;
DROP FUNCTION incidents_event_is_kept();
"""


class Migration(migrations.Migration):
    dependencies: ClassVar[list[tuple[str, str]]] = [("incidents", "0001_initial")]
    operations: ClassVar[list[Operation]] = [migrations.RunSQL(GUARD, UNGUARD)]
