"""What incidents of a period show together, as counts and distributions, and what another policy would have done."""
