"""Which channel belongs to which incident, and who is in it."""
