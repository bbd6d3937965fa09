"""The on-call pages: schedules, people, user groups, rules for alerts."""
