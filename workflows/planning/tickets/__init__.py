"""Tickets of follow-ups: which should exist, and how edits on both sides are merged. Pure."""
