"""What Slack tells of by itself: Home tabs opened, links shared, messages, channels, people."""
