"""Stand-ins for the trackers: they store tickets, enforce each API's rules and send signed webhooks."""
