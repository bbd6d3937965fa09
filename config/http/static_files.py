"""Static files under names that hold their content's hash, the modules that scripts import as well.

What a page names together goes out as one file, which `Together` finds as if it lay there.
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

# Kept as they are: what is named by content already and loads by those names, and scripts of a package that no page
# of ours asks for, in whose comments `import` leads nowhere.
AS_THEY_ARE = ("vendor/speedscope/", "django_htmx/ext/")


class Finder(AppDirectoriesFinder):
    """Finds what packages bring, but for allauth's scripts: its pages are not ours, and no page asks for them."""

    def __init__(self, app_names: Any = None, *args: Any, **kwargs: Any) -> None:
        ours = [one.name for one in apps.get_app_configs() if not one.name.startswith("allauth")]
        super().__init__(app_names or ours, *args, **kwargs)


class Joined(Storage):
    """Files that are written nowhere: each is made of its parts when it is opened."""

    def __init__(self) -> None:
        self.bundles = {one.name: one for one in bundles.named_in(settings.BASE_DIR / "templates")}

    def path(self, name: str) -> str:
        """Return a name to report."""
        return name

    def _open(self, name: str, mode: str = "rb") -> File[Any]:
        one = self.bundles[name]
        return ContentFile(one.joined([Path(settings.BASE_DIR, "static", part).read_bytes() for part in one.parts]))


class Together(BaseFinder):
    """Finds what pages name together; only to gather it, as pages name the parts where nothing is gathered."""

    def list(self, ignore_patterns: Any) -> Iterator[tuple[str, Joined]]:
        """Yield each with the storage that opens it."""
        storage = Joined()
        yield from ((name, storage) for name in storage.bundles)

    def find(self, path: str, *args: Any, **kwargs: Any) -> Any:
        """Find none."""
        return []


class Statics(CompressedManifestStaticFilesStorage):  # type: ignore[misc]  # whitenoise's storage is untyped
    """Whitenoise's storage; a script that imports another is sent to the one it was deployed with."""

    support_js_module_import_aggregation = True

    def post_process(self, paths: dict[str, Any], *args: Any, **kwargs: Any) -> Iterator[Any]:
        """Hash and compress all files but the vendored ones that must keep their names, which are compressed alone."""
        kept = [name for name in paths if name.startswith(AS_THEY_ARE)]
        yield from super().post_process({name: paths[name] for name in paths if name not in kept}, *args, **kwargs)
        for name, compressed in self.compress_files(kept):
            yield name, compressed, True
