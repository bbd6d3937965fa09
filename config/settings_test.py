"""The same settings with stand-ins for the environment: for tests and checks.

Of the person's own settings, only the addresses of a database and a broker are used.
"""

import os
import secrets

from config import env

STAND_INS = {
    "DATABASE_URL": os.environ.get("DATABASE_URL") or "postgresql://postgres@127.0.0.1/firekind",
    "REDIS_URL": os.environ.get("REDIS_URL") or "redis://127.0.0.1:6379/0",
    "SECRET_KEY": secrets.token_urlsafe(64),
    "FIREKIND_BASE_URL": "http://testserver",
    "SLACK_BOT_TOKEN": "xoxb-test-token",
    "SLACK_SIGNING_SECRET": secrets.token_urlsafe(24),
    "SIGN_IN_SECOND_FACTOR": "off",
}
os.environ.update({name: STAND_INS.get(name, "") for name in env.NAMES})

from config.settings import *  # noqa: E402, F403 (the lines above must come first)
from config.settings import DATABASES, STORAGES  # noqa: E402 (the same)

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
DATABASES["default"]["OPTIONS"].pop("pool", None)  # a pool would keep a test database from being dropped
if os.environ.get("FIREKIND_TEST_TEMPLATE"):  # the tables exist already: there is nothing to migrate
    DATABASES["default"]["TEST"] = {"TEMPLATE": os.environ["FIREKIND_TEST_TEMPLATE"], "MIGRATE": False}
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
PANEL_FAULTS_ARE_RAISED = True  # so that a failing test shows where
WHITENOISE_AUTOREFRESH = True  # files are read from their source folders: nothing is collected for tests
