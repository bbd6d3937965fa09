"""One adapter per tracker behind the same port, and the wire that they share."""
