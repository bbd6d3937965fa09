from django.urls import URLPattern, URLResolver, path

from insights.views import charts, tried

urlpatterns: list[URLPattern | URLResolver] = [
    path("insights/", charts.chapter, name="insights"),
    path("insights/<slug:slug>", charts.chapter, name="insights-chapter"),
    path("insights/<slug:slug>.csv", charts.as_csv, name="insights-csv"),
    path("insights/<slug:slug>/<slug:row>", charts.behind, name="insights-behind"),
    path("types/<slug:slug>/try", tried.tried, name="type-try"),
]
