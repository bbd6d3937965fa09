from django.urls import URLPattern, URLResolver, path

from reviews.views import exports, listing, page, writing

BASE = "incidents/<slug:codename>/review"

urlpatterns: list[URLPattern | URLResolver] = [
    path("reviews", listing.listing, name="reviews"),
    path(BASE, page.page, name="review"),
    path(f"{BASE}.md", exports.markdown, name="review-markdown"),
    path(f"{BASE}.html", exports.html, name="review-html"),
    path(f"{BASE}/state", writing.state, name="review-state"),
    path(f"{BASE}/comments/<int:pk>/settle", writing.settle, name="review-settle"),
    path(f"{BASE}/<slug:section>", writing.write, name="review-write"),
    path(f"{BASE}/<slug:section>/again", writing.again, name="review-again"),
    path(f"{BASE}/<slug:section>/comment", writing.comment, name="review-comment"),
    path(f"{BASE}/<slug:section>/versions", page.versions, name="review-versions"),
]
