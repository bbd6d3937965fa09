"""Which words of a timeline a search finds."""
