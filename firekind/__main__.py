"""The `firekind` command of an installed wheel: `firekind demo`, `firekind run`, `firekind manage doctor`.

The application lies beside this file, in `app/`, so that its modules meet no one else's. What it keeps lies in
`FIREKIND_HOME`.
"""

import os
import runpy
import sys
from pathlib import Path

APP = Path(__file__).resolve().parent / "app"


def main() -> int:
    """Run one of the application's commands, or `manage.py` with what follows `manage`."""
    home = _home()
    home.mkdir(parents=True, exist_ok=True)
    os.environ["FIREKIND_HOME"] = str(home)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(APP), os.environ.get("PYTHONPATH")]))
    sys.path.insert(0, str(APP))
    if sys.argv[1:2] == ["manage"]:
        sys.argv = ["firekind manage", *sys.argv[2:]]
        runpy.run_path(str(APP / "manage.py"), run_name="__main__")
        return 0
    from stack.__main__ import main as run

    return run()


def _home() -> Path:
    if os.environ.get("FIREKIND_HOME"):
        return Path(os.environ["FIREKIND_HOME"]).resolve()
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "firekind"


if __name__ == "__main__":
    sys.exit(main())
