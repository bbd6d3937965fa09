from django.urls import path

from integrations.slack.doors import http

urlpatterns = [path("slack/events", http.events, name="slack-events")]
