"""Tasks and follow-ups: what people do with them, and what an issue tracker did."""
