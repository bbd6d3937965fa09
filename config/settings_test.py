"""The same settings with stand-ins for what the environment does not give: for tests and checks."""

import os

os.environ.setdefault("DATABASE_URL", "postgresql://postgres@127.0.0.1/firekind")
os.environ.setdefault("REDIS_URL", "redis://127.0.0.1:6379/0")
os.environ.setdefault("SECRET_KEY", "only-for-tests-only-for-tests-only-for-tests-only-for-tests")
os.environ.setdefault("FIREKIND_BASE_URL", "http://testserver")
os.environ.setdefault("SLACK_BOT_TOKEN", "xoxb-test-token")
os.environ.setdefault("SLACK_SIGNING_SECRET", "only-for-tests-signing-secret")

from config.settings import *  # noqa: F403 (the lines above must come first)
from config.settings import DATABASES, STORAGES

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
DATABASES["default"]["OPTIONS"].pop("pool", None)  # a test database is dropped while a pool would hold it
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
WHITENOISE_AUTOREFRESH = True  # files are read where they lie: nothing is collected for tests
