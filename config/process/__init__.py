"""How a process behaves apart from its work: its own loop, its priority, its garbage collection."""
