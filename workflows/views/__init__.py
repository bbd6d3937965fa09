"""Pages and fragments about plans: what would happen, and how far it has come."""
