"""Slack's side of the sandbox: its API, its deliveries, its page, and the doors for people and tests."""
