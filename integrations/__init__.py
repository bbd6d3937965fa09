"""The outside world: vendors (adapter, doors and stand-in for each), the REST API, and sign-in."""
