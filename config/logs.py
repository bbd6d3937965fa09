"""What is logged: what happened, never what people wrote. Bodies stay out of every logger."""

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{levelname} {name}: {message}", "style": "{"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {
        "incidents": {"level": "INFO"},
        "workflows": {"level": "INFO"},
        "integrations": {"level": "INFO"},
        # Both print whole requests below this level, tokens and people's words included.
        "slack_bolt": {"level": "WARNING"},
        "slack_sdk": {"level": "WARNING"},
        # A refused request is the sender's business; its path may carry a codename.
        "django.request": {"level": "ERROR"},
        "django.security.DisallowedHost": {"level": "CRITICAL"},
    },
}
