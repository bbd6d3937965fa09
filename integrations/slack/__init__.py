"""Slack: the protocol, the adapter to the chat port, people's requests and our answers, and the stand-in workspace."""
