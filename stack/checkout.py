"""The commit that is checked out."""

import subprocess

from config.env import ROOT


def commit() -> str:
    """Return the short hash of the commit that is checked out; empty without a checkout."""
    asked = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
