"""The chain over all kept rows: sealing, verifying, exporting and publishing it."""
