"""Capture profiles: one adapter per type of source, for the sources on the operator's list."""
