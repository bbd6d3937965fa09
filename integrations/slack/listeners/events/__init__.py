"""Slack's events: Home tabs opened, links shared, messages, channels and people."""
