"""OpenID Connect: providers, what they claim, and whose account that is."""
