"""Allow the words of an entry to be redacted: once, leaving a hash of them, with a row that records the redaction.

The trigger allows that one UPDATE and no other: every column except the words stays the same, what is left of ``data``
was in it before, and ``audit_redaction`` names the row. Existing entries have no salt and are hashed as they were.
"""

from typing import ClassVar

from django.db import migrations, models
from django.db.migrations.operations.base import Operation

ALLOW = """
CREATE OR REPLACE FUNCTION incidents_event_is_kept() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    words CONSTANT text[] := ARRAY['text', 'data', 'link', 'salt', 'redacted'];
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF OLD.redacted IS NULL AND NEW.redacted IS NOT NULL
           AND NEW.text = '' AND NEW.link = '' AND NEW.salt IS NULL AND OLD.data @> NEW.data
           AND to_jsonb(NEW) - words = to_jsonb(OLD) - words
           AND EXISTS (SELECT FROM audit_redaction AS known WHERE known.kept = 'events' AND known."row" = OLD.id)
        THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'the timeline is append-only: % refused', TG_OP USING ERRCODE = 'restrict_violation';
END $$;
"""
REFUSE = """
CREATE OR REPLACE FUNCTION incidents_event_is_kept() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the timeline is append-only: % refused', TG_OP USING ERRCODE = 'restrict_violation';
END $$;
"""


class Migration(migrations.Migration):
    dependencies: ClassVar[list[tuple[str, str]]] = [("incidents", "0010_misses"), ("audit", "0003_redactions")]
    operations: ClassVar[list[Operation]] = [
        migrations.AddField("event", "redacted", models.CharField(max_length=65, null=True)),
        migrations.AddField("event", "salt", models.CharField(max_length=32, null=True)),
        migrations.RunSQL(ALLOW, REFUSE),
    ]
