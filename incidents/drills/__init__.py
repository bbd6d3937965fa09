"""Incidents for practice: who takes part in them, and what they may not do."""
