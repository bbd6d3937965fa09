"""Keep unplanned revisions in a table of their own, so that the sweep need not compare every incident.

The triggers also serve processes of older versions. They run as the tables' owner, because the application's rights in
a new table are granted only after the migration.
"""

import django.db.models.deletion
from django.db import migrations, models

KEEP = """
CREATE FUNCTION workflows_facts_moved() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    INSERT INTO workflows_unplanned (incident_id, revision) VALUES (NEW.id, NEW.revision) ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE FUNCTION workflows_facts_planned() RETURNS trigger LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    DELETE FROM workflows_unplanned WHERE incident_id = NEW.incident_id AND revision <= NEW.revision;
    RETURN NULL;
END $$;
CREATE TRIGGER incidents_incident_declared AFTER INSERT ON incidents_incident
    FOR EACH ROW EXECUTE FUNCTION workflows_facts_moved();
CREATE TRIGGER incidents_incident_moved AFTER UPDATE OF revision ON incidents_incident
    FOR EACH ROW WHEN (NEW.revision > OLD.revision) EXECUTE FUNCTION workflows_facts_moved();
CREATE TRIGGER workflows_planned_moved AFTER INSERT OR UPDATE OF revision ON workflows_planned
    FOR EACH ROW EXECUTE FUNCTION workflows_facts_planned();
INSERT INTO workflows_unplanned (incident_id, revision)
    SELECT i.id, i.revision FROM incidents_incident i LEFT JOIN workflows_planned p ON p.incident_id = i.id
     WHERE p.incident_id IS NULL OR p.revision < i.revision;
"""

LEAVE = """
DROP TRIGGER workflows_planned_moved ON workflows_planned;
DROP TRIGGER incidents_incident_moved ON incidents_incident;
DROP TRIGGER incidents_incident_declared ON incidents_incident;
DROP FUNCTION workflows_facts_planned();
DROP FUNCTION workflows_facts_moved();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("incidents", "0021_private_ones_by_their_end"),
        ("workflows", "0019_overrides"),
    ]

    operations = [
        migrations.CreateModel(
            name="Unplanned",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("revision", models.PositiveIntegerField()),
                (
                    "incident",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="incidents.incident",
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("incident", "revision"), name="unplanned_once")],
            },
        ),
        migrations.RunSQL(KEEP, LEAVE),
    ]
