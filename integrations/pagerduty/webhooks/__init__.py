"""Webhooks: stored before they are answered, then translated and processed in order."""
