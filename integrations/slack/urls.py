from django.urls import path

from integrations.slack import doors

urlpatterns = [path("slack/events", doors.events, name="slack-events")]
