"""What both pages are drawn with: templates, Slack's markup, emoji, and the bell that says a page changed."""
