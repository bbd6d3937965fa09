from django.urls import path

from integrations.metrics import door

urlpatterns = [path("metrics", door.metrics, name="metrics")]
