"""Tasks and follow-ups: what people do to them, and what an issue tracker did."""
