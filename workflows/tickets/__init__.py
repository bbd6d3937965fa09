"""Tickets in an issue tracker that stand for follow-ups: opened and changed by effects, and read back."""
