"""Django's PostgreSQL backend, with a pool in which no caller waits beyond its time."""
