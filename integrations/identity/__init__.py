"""Sign-in: identity providers, our own accounts, second factors, sessions, and limits on guessing."""
