"""How Slack reaches us: signed HTTP and Socket Mode, both through Bolt."""
