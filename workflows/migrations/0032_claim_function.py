"""Claim by a function, whose plan a connection caches: planning took ten times as long as the claim itself.

It runs with the caller's rights. Older processes continue with their own query.
"""

from django.db import migrations

MAKE = """
CREATE FUNCTION workflows_claim(timestamptz, timestamptz, bigint, integer, text[])
    RETURNS TABLE (claimed workflows_effect, known text) LANGUAGE plpgsql AS $claim$
BEGIN
    RETURN QUERY
    WITH chosen AS MATERIALIZED (
    SELECT e.id FROM workflows_effect e
      JOIN workflows_planned p ON p.incident_id = e.incident_id
      JOIN incidents_incident i ON i.id = e.incident_id AND i.revision = p.revision
     WHERE (e.state = 'waiting' AND e.due_at <= $1 OR e.state = 'running' AND e.leased_until < $1)
       AND NOT EXISTS (SELECT FROM unnest(e.needs) AS need(key) WHERE NOT EXISTS (
               SELECT FROM workflows_resource r
                WHERE r.incident_id = e.incident_id AND r.key = need.key
                  AND (r.state = 'there' OR e.state = 'running' OR e.unsure)))
       AND NOT EXISTS (SELECT FROM workflows_effect o
                WHERE o.incident_id = e.incident_id AND o.key = ANY(e.after) AND (o.state IN ('waiting', 'running')
                  OR o.state = 'failed' AND e.kind = 'archived' AND o.room = e.room AND o.verb <> 'create'))
       AND (e.kind <> 'archived' OR NOT EXISTS (SELECT FROM workflows_effect o
                WHERE o.incident_id = e.incident_id AND o.room = e.room AND o.kind <> 'archived'
                  AND (o.state = 'running' OR o.state = 'waiting' AND NOT EXISTS (
                      SELECT FROM workflows_effect f WHERE f.incident_id = o.incident_id AND f.thing = ANY(o.needs)
                         AND f.state = 'failed' AND f.verb = 'create'))))
       AND NOT EXISTS (SELECT FROM workflows_limit l WHERE l.method = e.method AND l.blocked_until > $1)
 AND e.incident_id = $3 AND e.kind = ANY($5)
                                 ORDER BY e.rank, e.id LIMIT $4 FOR UPDATE OF e SKIP LOCKED)
    UPDATE workflows_effect SET state = 'running', token = token + 1, unanswered = unanswered + 1, leased_until = $2, unsure = unsure OR state = 'running',
           begun_at = coalesce(begun_at, $1),
           tried_at = CASE WHEN unsure OR state = 'running' THEN tried_at ELSE $1 END
     WHERE id IN (SELECT id FROM chosen)
 RETURNING workflows_effect, (SELECT jsonb_object_agg(r.key, r.external)::text FROM workflows_resource r
                WHERE r.incident_id = $3 AND (r.kind = 'channel' OR r.key = ANY(needs)));
END
$claim$;
"""
DROP = "DROP FUNCTION workflows_claim(timestamptz, timestamptz, bigint, integer, text[])"


class Migration(migrations.Migration):
    dependencies = [("workflows", "0031_long_projects")]

    operations = [migrations.RunSQL(MAKE, DROP)]
