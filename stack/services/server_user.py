"""The user of the embedded servers: if we are root, one who owns nothing else. PostgreSQL refuses to run as root.

That user gets no capability and none of root's groups. It is not given access to a folder that only root may enter: its
programs are copied to where everyone may go, and its data are handed to it as its working folder.
"""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from stack.errors import StackError
from stack.processes import process

NAME: Final = "nobody"
PUBLIC: Final = ("/tmp", "/var/tmp")  # noqa: S108 (where everyone may go; folders in them are closed to others)
# A process's working folder stays accessible under this name, even if it may not enter the parents.
INSIDE: Final = Path("/proc/self/cwd")
# What a server needs from the wheel, besides the libraries that the wheel brings.
PROGRAMS: Final = ("bin/postgres", "bin/initdb", "lib/postgresql", "share")


def given() -> Mapping[str, Any]:
    """Return the arguments of `subprocess` that make a child this user; none if we are not root."""
    if os.geteuid() != 0:
        return {}
    user = _user()
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def start(argv: Sequence[str], env: Mapping[str, str], lend: Sequence[int], *, folder: Path) -> "subprocess.Popen[str]":
    """Start a server in its folder, in its own group."""
    return process.started(argv, env, lend, cwd=folder, user=given())


def name_of(folder: Path) -> Path:
    """Return the name by which a process in this working folder reaches it."""
    return INSIDE if given() and INSIDE.exists() else folder


def own(folder: Path) -> None:
    """Give this user a folder and everything in it, unless it is theirs; only needed for root."""
    user = given()
    if not user or folder.stat().st_uid == user["user"]:
        return
    for path in (folder, *folder.rglob("*")):
        os.chown(path, user["user"], user["group"], follow_symlinks=False)


def reaches(path: Path) -> bool:
    """Return whether this user may enter a folder, or run a program."""
    asked = ["/bin/sh", "-c", 'test -x "$1"', "sh", str(path)]
    return not given() or subprocess.run(asked, cwd="/", check=False, **given()).returncode == 0


def public_folder() -> Path:
    """Return a folder for temporary files that this user may enter. Raises StackError if there is none."""
    folders = [Path(folder) for folder in dict.fromkeys((tempfile.gettempdir(), *PUBLIC))]
    for folder in folders:
        if folder.is_dir() and reaches(folder):
            return folder
    tried = ", ".join(map(str, folders))
    raise StackError(
        f"The embedded servers do not run as root, and their user, {NAME}, may enter none of {tried}: "
        "run Firekind as another user, or set TMPDIR to a folder that everyone may enter."
    )


def programs(installed: Path, *, beside: Path) -> Path:
    """Return the folder of the programs: the installed one, else a copy in the folder of the sockets."""
    if reaches(installed / "postgres"):
        return installed
    home, package = installed.parent, installed.parents[1]
    copy = beside / package.name
    if not copy.exists():
        for part in PROGRAMS:
            _copy(home / part, copy / home.name / part)
        _copy(package.with_name(f"{package.name}.libs"), beside / f"{package.name}.libs")
    return copy / home.name / installed.name


def program(installed: Path, *, beside: Path) -> Path:
    """Return a program that needs no other files, in the same way."""
    if reaches(installed):
        return installed
    _copy(installed, beside / installed.name)
    return beside / installed.name


def _copy(what: Path, where: Path) -> None:
    """Copy with plain modes: everyone may read it, and only root may change it."""
    where.parent.mkdir(parents=True, exist_ok=True)
    if what.is_dir():
        shutil.copytree(what, where, ignore=shutil.ignore_patterns("pgxs"))
    elif what.exists():
        shutil.copy2(what, where)


def _user() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam(NAME)
    except KeyError:
        raise StackError(
            f"The embedded servers do not run as root, and there is no user {NAME} to run them instead: "
            "run Firekind as another user, or set DATABASE_URL and REDIS_URL."
        ) from None
