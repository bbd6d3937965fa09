"""People's requests through Slack and our answers, as plain values."""
