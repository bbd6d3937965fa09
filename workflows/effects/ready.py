"""The SQL for effects that may be performed right now, used by the claim and by the sweep."""

from incidents.claiming.leases import CLAIMED

# Ready: due, everything it needs exists, everything it waits for has ended, its method is not blocked, and its incident
# was planned from its newest facts: nothing is done from what was true before a verb that has committed. What an
# earlier try may have done is looked for even if what it needed is gone by now. Archiving waits for everything owed in
# its room, including what was planned later, because nothing can be done there afterwards. An effect whose prerequisite
# could not be made, such as the pin of a headline that failed, holds up nothing. A failed effect counts as ended,
# except for archiving: words of ours that could not be withdrawn never could be after that.
READY = """
    SELECT e.id FROM workflows_effect e
      JOIN workflows_planned p ON p.incident_id = e.incident_id
      JOIN incidents_incident i ON i.id = e.incident_id AND i.revision = p.revision
     WHERE (e.state = 'waiting' AND e.due_at <= %(at)s OR e.state = 'running' AND e.leased_until < %(at)s)
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
       AND NOT EXISTS (SELECT FROM workflows_limit l WHERE l.method = e.method AND l.blocked_until > %(at)s)
"""

# Selected first, and once: PostgreSQL may run a locking sub-select again for each row, and then take more than its
# limit. This is the body of the function `workflows_claim`, which a migration creates. Whenever it changes, a new
# migration creates it under another name. Planning this query takes ten times as long as running it, and a connection
# caches the plan of a function.
CLAIM_BODY = f"""
BEGIN
    RETURN QUERY
    WITH chosen AS MATERIALIZED ({READY} AND e.incident_id = %(incident)s AND e.kind = ANY(%(kinds)s)
                                 ORDER BY e.rank, e.id LIMIT %(limit)s FOR UPDATE OF e SKIP LOCKED)
    UPDATE workflows_effect SET state = 'running', {CLAIMED}, unsure = unsure OR state = 'running',
           begun_at = coalesce(begun_at, %(at)s),
           tried_at = CASE WHEN unsure OR state = 'running' THEN tried_at ELSE %(at)s END
     WHERE id IN (SELECT id FROM chosen)
 RETURNING workflows_effect, (SELECT jsonb_object_agg(r.key, r.external)::text FROM workflows_resource r
                WHERE r.incident_id = %(incident)s AND (r.kind = 'channel' OR r.key = ANY(needs)));
END
""" % {"at": "$1", "lease": "$2", "incident": "$3", "limit": "$4", "kinds": "$5"}  # noqa: S608  # all parts are constants

CLAIM = """
    SELECT {effect}, one.known
      FROM workflows_claim(%(at)s, %(lease)s, %(incident)s, %(limit)s, %(kinds)s::text[]) AS one (effect, known)
"""


READY_INCIDENTS = f"""
    SELECT DISTINCT asked.port, incident_id FROM workflows_effect
      JOIN unnest(%(kinds)s::text[], %(ports)s::text[]) AS asked (kind, port) USING (kind) WHERE id IN ({READY})
     ORDER BY asked.port, incident_id
"""  # noqa: S608  # a constant of this module
