"""What changes an incident and what should exist for it: declare, retype, roles, access, retries."""
