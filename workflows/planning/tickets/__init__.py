"""Tickets of follow-ups: which should exist, and what of edits on both sides stands. Pure."""
