"""What is written on the timeline: verbs with words, messages that are added, entries that are redacted."""
