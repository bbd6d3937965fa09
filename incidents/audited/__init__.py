"""What incidents hand to the audit: notes, sealed timelines, and copies that forget redacted words."""
