"""Slack: the protocol, the adapter to the chat port, what people ask, and the stand-in workspace."""
