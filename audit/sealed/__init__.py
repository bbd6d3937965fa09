"""The chain over everything that is kept: sealing, verifying, exporting and publishing it."""
