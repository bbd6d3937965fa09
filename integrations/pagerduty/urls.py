from django.urls import path

from integrations.pagerduty import webhook_door

urlpatterns = [path("pagerduty/webhook", webhook_door.webhook, name="pagerduty-webhook")]
