"""What the audit has of incidents: notes, sealed timelines, and copies that let go of redacted words."""
