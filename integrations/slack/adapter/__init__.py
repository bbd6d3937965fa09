"""The chat port over Slack's Web API: one wire, one rule table, one module per concern."""
