from django.urls import URLPattern, URLResolver, path

from workflows.views import captures, declaring, oncall, policy, progress, retype

urlpatterns: list[URLPattern | URLResolver] = [
    path("declare/plan", declaring.plan_of_type, name="declare-plan"),
    path("oncall/", oncall.now, name="oncall"),
    path("oncall/people/", oncall.people, name="oncall-people"),
    path("types/<slug:slug>/preview", policy.preview, name="type-preview"),
    path("incidents/<slug:codename>/evidence/captures", captures.captures, name="captures"),
    path("incidents/<slug:codename>/retype", retype.retype, name="retype"),
    path("incidents/<slug:codename>/progress", progress.progress, name="progress"),
    path("incidents/<slug:codename>/retry/<int:effect>", progress.retry, name="retry"),
]
