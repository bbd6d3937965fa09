"""Static files under names with their content's hash, including the modules that scripts import.

The files that a page names together are served as one bundle, which `Together` finds as if it were on disk.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.staticfiles.finders import AppDirectoriesFinder, BaseFinder
from django.core.files.base import ContentFile, File
from django.core.files.storage import Storage
from whitenoise.storage import CompressedManifestStaticFilesStorage

from incidents import bundles

# Left as they are: files already named by content and loaded by those names, and scripts of a package that no page of
# ours uses, with an `import` in a comment that leads nowhere.
AS_THEY_ARE = ("vendor/speedscope/", "django_htmx/ext/")


class Finder(AppDirectoriesFinder):
    """Finds the files of installed packages, except allauth's scripts: its pages are not ours, and load none."""

    def __init__(self, app_names: Any = None, *args: Any, **kwargs: Any) -> None:
        ours = [one.name for one in apps.get_app_configs() if not one.name.startswith("allauth")]
        super().__init__(app_names or ours, *args, **kwargs)


class Joined(Storage):
    """Files that are not stored anywhere: each is joined from its parts when opened."""

    def __init__(self) -> None:
        self.bundles = {one.name: one for one in bundles.named_in(settings.BASE_DIR / "templates")}

    def path(self, name: str) -> str:
        """Return a name to report."""
        return name

    def _open(self, name: str, mode: str = "rb") -> File[Any]:
        one = self.bundles[name]
        return ContentFile(one.joined([Path(settings.BASE_DIR, "static", part).read_bytes() for part in one.parts]))


class Together(BaseFinder):
    """Finds bundles, only for collecting them: where nothing is collected, pages load the parts."""

    def list(self, ignore_patterns: Any) -> Iterator[tuple[str, Joined]]:
        """Yield each bundle with the storage that opens it."""
        storage = Joined()
        yield from ((name, storage) for name in storage.bundles)

    def find(self, path: str, *args: Any, **kwargs: Any) -> Any:
        """Find nothing."""
        return []


class Statics(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # whitenoise's storage is untyped
    """Whitenoise's storage; a script that imports another gets the version it was deployed with."""

    support_js_module_import_aggregation = True

    def post_process(self, paths: dict[str, Any], *args: Any, **kwargs: Any) -> Iterator[Any]:
        """Hash and compress all files except vendored ones that keep their names; those are only compressed."""
        kept = [name for name in paths if name.startswith(AS_THEY_ARE)]
        yield from super().post_process({name: paths[name] for name in paths if name not in kept}, *args, **kwargs)
        for name, compressed in self.compress_files(kept):
            yield name, compressed, True
