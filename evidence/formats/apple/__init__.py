"""Output of Apple's tools."""
