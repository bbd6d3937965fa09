"""OpenID Connect: the providers, their claims, and the accounts that those belong to."""
