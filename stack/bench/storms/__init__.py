"""What comes all at once: a storm of webhooks, and a crowd that reads and writes beside one."""
