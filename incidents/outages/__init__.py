"""What happens while the database or the broker does not answer: nobody waits for it, and people are told."""
