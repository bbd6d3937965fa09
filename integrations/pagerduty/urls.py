from django.urls import path

from integrations.pagerduty import doors

urlpatterns = [path("pagerduty/webhook", doors.webhook, name="pagerduty-webhook")]
