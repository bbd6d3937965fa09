"""What gets written on the timeline: verbs with words, captured messages, redacted entries."""
