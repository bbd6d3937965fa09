"""What somebody asks through Slack and what they are answered, as plain values."""
