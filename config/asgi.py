"""The web application.

Each ordinary request is handled in one thread from its first middleware to its last. Django's own handler switches to a
thread and back for every middleware, and starts a thread for every request: a bare view then costs five times as much.
"""

import os
from typing import Any

from django.core.asgi import get_asgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

get_asgi_application()  # sets Django up; its return value, Django's own handler, is not used

from config.database import CONNECTIONS  # noqa: E402
from config.http.connections import raise_file_limit  # noqa: E402
from config.http.serving import KEEPS, Application  # noqa: E402
from config.postgresql import shares  # noqa: E402
from config.process import garbage  # noqa: E402 (Django must be set up)
from config.process.ticks import tick_rarely  # noqa: E402

raise_file_limit()
tick_rarely()
garbage.share_one_arena()
shares.divide(shares.Shares(CONNECTIONS, KEEPS))
application: Any = Application()
_ = get_resolver().url_patterns  # imports every page now: an error stops the start, and no visitor has to wait
garbage.leave_out_what_is_loaded()
