from django.apps import AppConfig


class SlackConfig(AppConfig):
    name = "integrations.slack"
    label = "slack"
    default_auto_field = "django.db.models.BigAutoField"
