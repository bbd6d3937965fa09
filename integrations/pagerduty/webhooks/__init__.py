"""Webhooks: stored before they are answered, translated, acted on in order."""
