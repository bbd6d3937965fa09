"""Carry effects out: one performer for each kind of thing and verb."""
