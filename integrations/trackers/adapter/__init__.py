"""One adapter for each tracker behind the same port, and the wire that they share."""
