"""Django's settings, made from the typed environment in `config.env`."""

from config import env, logs
from config.database import from_url, keywords
from config.parsing import mail

ENV = env.load()
BASE_DIR = env.ROOT
LOGGING = logs.written(ENV.log_format)

SECRET_KEY = ENV.secret_key
DEBUG = ENV.debug
PANEL_FAULTS_ARE_RAISED = DEBUG  # otherwise a fault in one panel of a page leaves the others usable
ALLOWED_HOSTS = list(ENV.allowed_hosts)
ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"

INSTALLED_APPS = [
    "config.apps.Wiring",
    "audit",
    "incidents",
    "evidence",
    "workflows",
    "insights",
    "reviews",
    "integrations.slack",
    "integrations.pagerduty",
    "integrations.identity",
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.mfa",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "csp",
    "django_htmx",
]

MIDDLEWARE = [
    "config.http.methods.HeadAsGet",
    "config.http.request_origin.ProxyDoubts",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.http.compression.Compression",
    "config.http.no_store.Unkept",
    "incidents.live.hallmark.Hallmark",
    "config.http.request_origin.OriginMiddleware",
    "csp.middleware.CSPMiddleware",
    "incidents.outages.outage_answer.Outages",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "integrations.identity.visiting.Visiting",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "integrations.identity.second_factor.SecondFactor",
    "evidence.views.storing.StorageOutages",
    "config.http.methods.FormsOnly",
]
SIGNED_MIDDLEWARE = [  # for requests that vendors send: config/http/signed_doors.py
    "config.http.request_origin.ProxyDoubts",
    "django.middleware.security.SecurityMiddleware",
    "config.http.no_store.Unkept",
    "config.http.request_origin.OriginMiddleware",
    "incidents.outages.outage_answer.Outages",
    "django.middleware.common.CommonMiddleware",
]

LOADERS = ["django.template.loaders.filesystem.Loader", "django.template.loaders.app_directories.Loader"]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "builtins": ["incidents.templatetags.together"],
            # What the app of template_partials would set up; the app itself imports all of Django's admin for it.
            "libraries": {"partials": "template_partials.templatetags.partials"},
            "loaders": [("template_partials.loader.Loader", [("django.template.loaders.cached.Loader", LOADERS)])],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

DATABASES = {"default": from_url(ENV.database_url, pooled=bool(ENV.database_direct_url))}
DATABASE_DIRECT = keywords(ENV.database_direct_url) if ENV.database_direct_url else {}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_I18N = False

STATIC_URL = "/static/"
STATIC_ROOT = env.HOME / "staticfiles"  # made from the code alone, so shared by all data folders
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "config.http.static_files.Finder",
    "config.http.static_files.Together",
]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "config.http.static_files.Statics"
    },
}

# Email, for the few messages that nothing else can carry.
globals().update(mail.django(ENV.mail))

# Who may sign in.
AUTHENTICATION_BACKENDS = ["incidents.people.accounts.AccountBackend"]
LOGIN_URL = "/sign-in/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/sign-in/"
# allauth implements the protocols; integrations.identity has the pages, texts, rules and limits.
ACCOUNT_ADAPTER = "integrations.identity.adapters.AccountAdapter"
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_FORMS = {"reauthenticate": "integrations.identity.forms.PasswordForm"}
ACCOUNT_RATE_LIMITS = False
ACCOUNT_REAUTHENTICATION_TIMEOUT = 300
SOCIALACCOUNT_ADAPTER = "integrations.identity.adapters.Joining"
MFA_ADAPTER = "integrations.identity.adapters.Factors"
MFA_FORMS = {
    "activate_totp": "integrations.identity.forms.ActivateAppForm",
    "authenticate": "integrations.identity.forms.SignInCodeForm",
    "authenticate_webauthn": "integrations.identity.forms.Key",
    "reauthenticate": "integrations.identity.forms.CodeAgainForm",
}
MFA_RATE_LIMITS = False
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_TOTP_TOLERANCE = 1  # phones' clocks differ
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.ScryptPasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]

# Headers and cookies. TLS rules follow the address that people open, so that a trial on loopback works.
SECURE_SSL_REDIRECT = ENV.https
SECURE_REDIRECT_EXEMPT = [r"^(health|ready|metrics)$"]  # monitoring asks these from inside
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if ENV.https else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = ENV.https
SECURE_HSTS_PRELOAD = ENV.https
SECURE_REFERRER_POLICY = "same-origin"
SESSION_ENGINE = "integrations.identity.sessions"  # its rows expire by the settings, and can be listed and ended
# Over TLS, cookies that another host of the domain or a page without TLS could have set are not accepted.
COOKIE_PREFIX = "__Host-" if ENV.https else ""
MESSAGE_STORAGE = "config.http.message_cookie.Messages"
SESSION_COOKIE_NAME = f"{COOKIE_PREFIX}sessionid"
CSRF_COOKIE_NAME = f"{COOKIE_PREFIX}csrftoken"
SESSION_COOKIE_SECURE = ENV.https
SESSION_COOKIE_SAMESITE = "Lax"  # people returning from a provider send it
SESSION_COOKIE_AGE = int(ENV.sign_in.lasts.total_seconds())
CSRF_COOKIE_SECURE = ENV.https
CSRF_COOKIE_HTTPONLY = False  # page scripts send it with htmx requests
CSRF_TRUSTED_ORIGINS = [ENV.base_url]
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "manifest-src": ["'self'"],
        "base-uri": ["'none'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
    }
}
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024

# Firekind's own.
FIREKIND = ENV
