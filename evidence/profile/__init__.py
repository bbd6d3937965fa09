"""The values that every reader of profiles shares: stacks, errors, limits, amounts, searches. Pure."""
