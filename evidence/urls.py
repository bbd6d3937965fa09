from django.urls import URLPattern, URLResolver, path

from evidence.views import listing, page

BASE = "incidents/<slug:codename>/evidence/"

urlpatterns: list[URLPattern | URLResolver] = [
    path(BASE, listing.listing, name="evidence-list"),
    path(f"{BASE}add", listing.add, name="evidence-add"),
    path(f"{BASE}panel", listing.panel, name="evidence-panel"),
    path(f"{BASE}<int:n>/", page.page, name="evidence"),
    path(f"{BASE}<int:n>/withdraw", listing.withdraw, name="evidence-withdraw"),
    path(f"{BASE}<int:n>/again", listing.read_again, name="evidence-again"),
]
