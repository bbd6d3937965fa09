"""The on-call pages: schedules, people, user groups, declare rules."""
