from django.urls import URLPattern, URLResolver, path

from evidence.views import listing

BASE = "incidents/<slug:codename>/evidence/"

urlpatterns: list[URLPattern | URLResolver] = [
    path(BASE, listing.listing, name="evidence-list"),
]
