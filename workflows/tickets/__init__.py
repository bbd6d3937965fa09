"""Tickets in an issue tracker that stand for follow-ups: opened and changed as effects, and read back."""
