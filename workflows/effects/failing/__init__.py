"""Effects that were not done: failed, in doubt or abandoned. What people are told, and what is retried."""
