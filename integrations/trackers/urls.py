from django.urls import path

from integrations.trackers import webhook_door

urlpatterns = [path("tracker/webhook", webhook_door.webhook, name="tracker-webhook")]
