"""What happens while the database or the broker does not respond: no one waits for it, and people are told."""
