"""Bursts: a storm of webhooks, and a crowd that reads and writes during one."""
