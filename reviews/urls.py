from django.urls import URLPattern, URLResolver, path

from reviews.models import PAGE
from reviews.views import exports, listing, page, writing

urlpatterns: list[URLPattern | URLResolver] = [
    path("reviews", listing.listing, name="reviews"),
    path(PAGE, page.page, name="review"),
    path(f"{PAGE}.md", exports.markdown, name="review-markdown"),
    path(f"{PAGE}.html", exports.html, name="review-html"),
    path(f"{PAGE}/state", writing.state, name="review-state"),
    path(f"{PAGE}/comments/<int:pk>/settle", writing.settle, name="review-settle"),
    path(f"{PAGE}/<slug:section>", writing.write, name="review-write"),
    path(f"{PAGE}/<slug:section>/again", writing.again, name="review-again"),
    path(f"{PAGE}/<slug:section>/comment", writing.comment, name="review-comment"),
    path(f"{PAGE}/<slug:section>/versions", page.versions, name="review-versions"),
]
