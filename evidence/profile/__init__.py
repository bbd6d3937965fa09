"""The values shared by all readers of profiles: stacks, errors, limits, amounts, searches. Pure."""
