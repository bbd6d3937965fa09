"""Third-party programs that a stack needs: PostgreSQL, Redis, Chromium."""
