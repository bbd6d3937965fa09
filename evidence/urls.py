from django.urls import URLPattern, URLResolver, path

from evidence.models.evidence import PAGE
from evidence.views import commands, downloads, findings, listing, page
from evidence.views.profile import boxes, compare, functions, sandwich, search, speedscope
from incidents.models import page_routes

BASE = f"{page_routes.INCIDENT}evidence/"
FINDINGS = f"{page_routes.INCIDENT}findings/"

urlpatterns: list[URLPattern | URLResolver] = [
    path("tokens/", commands.listing, name="tokens"),
    path("tokens/<int:pk>/revoke", commands.revoke, name="token-revoke"),
    path(BASE, listing.listing, name="evidence-list"),
    path(f"{BASE}add", listing.add, name="evidence-add"),
    path(f"{BASE}commands", commands.commands, name="evidence-commands"),
    path(PAGE, page.page, name="evidence"),
    path(f"{BASE}<int:n>/withdraw", listing.withdraw, name="evidence-withdraw"),
    path(f"{BASE}<int:n>/again", listing.read_again, name="evidence-again"),
    path(FINDINGS, findings.listing, name="findings"),
    path(f"{FINDINGS}<int:n>/", findings.judge, name="finding"),
    path(f"{FINDINGS}about/<int:n>/", findings.about, name="findings-about"),
    path(f"{BASE}compare/", compare.page, name="evidence-compare"),
    path(f"{BASE}compare.json", compare.boxes, name="evidence-compare-boxes"),
    path(f"{BASE}compare-search.json", compare.search, name="evidence-compare-search"),
    path(f"{BASE}<int:n>/boxes.json", boxes.boxes, name="evidence-boxes"),
    path(f"{BASE}<int:n>/search.json", search.search, name="evidence-search"),
    path(f"{BASE}<int:n>/function.json", sandwich.sandwich, name="evidence-function"),
    path(f"{BASE}<int:n>/functions/", functions.functions, name="evidence-functions"),
    path(f"{BASE}<int:n>/original", downloads.original, name="evidence-original"),
    path(f"{BASE}<int:n>/folded", downloads.folded, name="evidence-folded"),
    path(f"{BASE}<int:n>/pprof", downloads.pprof, name="evidence-pprof"),
    path(f"{BASE}<int:n>/svg", downloads.svg, name="evidence-svg"),
    path(f"{BASE}<int:n>/png", downloads.png, name="evidence-png"),
    path(f"{BASE}<int:n>/speedscope/", speedscope.page, name="evidence-speedscope"),
    path(f"{BASE}<int:n>/speedscope/app", speedscope.app, name="evidence-speedscope-app"),
    path(f"{BASE}<int:n>/speedscope/file/<str:name>", speedscope.file, name="evidence-speedscope-file"),
]
