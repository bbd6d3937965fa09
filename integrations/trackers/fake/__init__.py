"""Stand-ins for the trackers: they keep tickets, enforce each API's rules and send signed webhooks."""
