"""Who signs in: providers, accounts of our own, second factors, sessions, limits to guessing."""
