"""Pages and fragments about plans: what would happen, and the progress."""
