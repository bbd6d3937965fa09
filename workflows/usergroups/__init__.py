"""User groups in the chat: who belongs in them, by rules over on-call schedules, and keeping them so."""
