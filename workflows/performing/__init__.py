"""Perform effects: one performer for each kind of thing and verb."""
