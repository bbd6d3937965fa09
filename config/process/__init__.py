"""How a process behaves beside its work: its own loop, its priority, its garbage."""
