"""What was not done: it failed, is in doubt or was abandoned; what people are told of it, and what is tried again."""
