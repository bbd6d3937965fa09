"""Archives for tests."""

from __future__ import annotations

import io
import tarfile
import zipfile


def archive(kind: str, *files: bytes) -> bytes:
    """Return a zip or a tar of some files, with a folder."""
    out = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as bundle:
            bundle.writestr("run/", b"")
            for at, content in enumerate(files):
                bundle.writestr(f"run/{at}", content)
    else:
        with tarfile.open(fileobj=out, mode="w") as tar:
            folder = tarfile.TarInfo("run")
            folder.type = tarfile.DIRTYPE
            tar.addfile(folder)
            for at, content in enumerate(files):
                info = tarfile.TarInfo(f"run/{at}")
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
    return out.getvalue()
