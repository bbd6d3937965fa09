from django.urls import URLPattern, URLResolver, path

from workflows.views import alerts, captures, declaring, oncall, oncall_people, pages, policy, progress, retype, rules

urlpatterns: list[URLPattern | URLResolver] = [
    path("declare/plan", declaring.plan_of_type, name="declare-plan"),
    path("oncall/", oncall.now, name="oncall"),
    path("oncall/people/", oncall_people.people, name="oncall-people"),
    path("oncall/people/<int:pk>/match", oncall_people.match, name="oncall-match"),
    path("oncall/people/<int:pk>/part", oncall_people.part, name="oncall-part"),
    path("oncall/rules/", rules.listing, name="oncall-rules"),
    path("oncall/rules/add", rules.add, name="oncall-rule-add"),
    path("oncall/rules/<int:pk>/", rules.edit, name="oncall-rule"),
    path("oncall/rules/<int:pk>/delete", rules.remove, name="oncall-rule-delete"),
    path("oncall/rules/<int:pk>/<slug:verb>", rules.act, name="oncall-rule-act"),
    path("types/<slug:slug>/preview", policy.preview, name="type-preview"),
    path("incidents/<slug:codename>/evidence/captures", captures.captures, name="captures"),
    path("incidents/<slug:codename>/alerts", alerts.alerts, name="incident-alerts"),
    path("incidents/<slug:codename>/retype", retype.retype, name="retype"),
    path("incidents/<slug:codename>/pages", pages.pages, name="pages"),
    path("incidents/<slug:codename>/progress", progress.progress, name="progress"),
    path("incidents/<slug:codename>/retry/<int:effect>", progress.retry, name="retry"),
]
