"""Issue trackers: follow-ups become tickets in GitHub Issues, GitLab, Jira or Linear, and stay in sync with them."""
