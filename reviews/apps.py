from django.apps import AppConfig


class ReviewsConfig(AppConfig):
    name = "reviews"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register reviews' text with redaction, and with the search of its incident."""
        from incidents.audited import copies
        from incidents.indexing import word_index
        from reviews import quoting

        copies.keepers.append(quoting.forget)
        word_index.also_said.append(quoting.NEWEST)
