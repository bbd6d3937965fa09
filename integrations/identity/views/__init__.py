"""The pages of signing in and of your own account."""
