"""The outside: vendors, each with its adapter, its doors and a stand-in; the API; who signs in."""
