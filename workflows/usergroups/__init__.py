"""Who belongs in the chat's user groups, by rules over on-call schedules, and keeping them so."""
