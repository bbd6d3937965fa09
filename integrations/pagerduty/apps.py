from django.apps import AppConfig


class PagerDutyConfig(AppConfig):
    name = "integrations.pagerduty"
    label = "pagerduty"
    default_auto_field = "django.db.models.BigAutoField"
