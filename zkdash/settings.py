"""Django's settings for zkdash, from the environment. Nothing here is secret and nothing starts anything.

Each variable is declared in `configuration.environment`, and told in docs/configuration.md.
"""

from __future__ import annotations

import os
import re
import secrets
import sys
import tempfile
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from zkdash import configuration, databases
from zkdash.access.sso import providers
from zkdash.configuration import notices
from zkdash.configuration.errors import ConfigError
from zkdash.door import prefix
from zkdash.history.places import location
from zkdash.zk import config

BASE_DIR = Path(__file__).resolve().parent.parent
# Of an installed wheel: its templates, and static files that were collected when it was built.
_WHEEL_FILES = BASE_DIR / "zkdash" / "files"
IS_WHEEL = _WHEEL_FILES.is_dir()
DATA_DIR = Path(
    os.environ.get("ZKDASH_DATA") or (Path("zkdash-data").absolute() if IS_WHEEL else BASE_DIR / "var")
)


def _listed(variable: str) -> list[str]:
    return [item.strip() for item in os.environ.get(variable, "").split(",") if item.strip()]


# `verify` changes nothing: what it finds missing it tells, and others make.
_only_looks = sys.argv[1:2] == ["verify"]


def _have_data_dir() -> None:
    """Make the data directory, where anything is kept in it. Raises ImproperlyConfigured."""
    if _only_looks:
        return
    elsewhere = all(os.environ.get(f"ZKDASH_{name}") for name in ("SECRET_KEY", "DATABASE", "HISTORY"))
    elsewhere = elsewhere and not isinstance(ZKDASH_HISTORY, location.Remote)  # locks lie here then
    try:
        if not elsewhere:
            DATA_DIR.mkdir(parents=True, exist_ok=True)
        why = "" if elsewhere or os.access(DATA_DIR, os.W_OK | os.X_OK) else "it cannot be written to"
    except FileExistsError:
        why = "it is no directory"
    except OSError as error:
        why = error.strerror or str(error)
    if why:
        raise ImproperlyConfigured(
            f"{DATA_DIR} cannot hold zkdash's files: {why}. Set ZKDASH_DATA to a writable directory."
        )


def _secret_key() -> str:
    """The key of the environment, else the one in the data directory, made at first use."""
    given = os.environ.get("ZKDASH_SECRET_KEY")
    if given:
        return given
    path = DATA_DIR / "secret_key"
    if _only_looks:
        return secrets.token_urlsafe(48)
    try:
        if not path.exists():
            with tempfile.NamedTemporaryFile("w", dir=DATA_DIR, prefix="secret_key.") as file:
                file.write(secrets.token_urlsafe(48))
                file.flush()
                os.link(file.name, path)  # whole, and only where nobody else made one meanwhile
    except FileExistsError:
        pass
    except OSError as error:
        raise ImproperlyConfigured(
            f"Cannot make the secret key {path}: {error.strerror}. Set ZKDASH_DATA to a writable directory, "
            "or ZKDASH_SECRET_KEY."
        ) from error
    return path.read_text().strip()


try:
    ZKDASH_HISTORY = location.read(os.environ, DATA_DIR)
except ConfigError as error:
    raise ImproperlyConfigured(str(error)) from error
_have_data_dir()
try:
    _configuration = configuration.read(os.environ)
    ZKDASH_CLUSTERS: tuple[config.ClusterConfig, ...] = config.load(_configuration, os.environ)
    # Names of clusters that other processes follow, with whom this one shares its database.
    ZKDASH_ELSEWHERE = _configuration.elsewhere
    ZKDASH_SIGN_IN = providers.load(_configuration, os.environ)
    ZKDASH_CHECKS = _configuration.checks_by_cluster
    ZKDASH_LIMITS = _configuration.limits
    ZKDASH_MESSAGES = _configuration.messages
    ZKDASH_PREFIX = prefix.read(os.environ.get(prefix.VARIABLE, ""))
    ZKDASH_WEBHOOK_SECRET = notices.secret(os.environ, notices.WEBHOOK_SECRET)
    _smtp = notices.smtp(os.environ)
except ConfigError as error:
    raise ImproperlyConfigured(str(error)) from error

ZKDASH_RECORD = os.environ.get("ZKDASH_RECORD") != "0"
ZKDASH_ANONYMOUS_READ = os.environ.get("ZKDASH_ANONYMOUS_READ") == "1"
ZKDASH_METRICS_ANONYMOUS = os.environ.get("ZKDASH_METRICS_ANONYMOUS") == "1"
ZKDASH_METRICS_NAMES = os.environ.get("ZKDASH_METRICS_NAMES") == "1"
# Proxies whose X-Forwarded-For and -Proto are believed; of others these headers mean nothing.
ZKDASH_PROXIES = _listed("ZKDASH_PROXIES")
# Full origins (scheme://host:port) whose forms and WebSockets are accepted; serve adds its own address.
ZKDASH_ORIGINS = _listed("ZKDASH_ORIGINS")
# Mails and webhooks link there.
ZKDASH_ADDRESS = prefix.address(ZKDASH_ORIGINS, ZKDASH_PREFIX)

SECRET_KEY = _secret_key()
DEBUG = os.environ.get("ZKDASH_DEBUG") == "1"
ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]", *_listed("ZKDASH_ALLOWED_HOSTS")]

INSTALLED_APPS = [
    "zkdash",
    "zkdash.access",
    "zkdash.access.sso",
    "zkdash.notices",
    "zkdash.actions",
    "zkdash.alarms",
    "zkdash.pipeline",
    "zkdash.web",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.admin",
    "channels",
    "django_htmx",
    "django.contrib.staticfiles",
]
MIDDLEWARE = [
    "zkdash.web.middleware.request_log.numbered",
    "zkdash.web.middleware.headers.security_headers",
    "django.middleware.security.SecurityMiddleware",
    "servestatic.middleware.ServeStaticMiddleware",
    "django.middleware.http.ConditionalGetMiddleware",
    "django.middleware.common.CommonMiddleware",
    "zkdash.web.visitors.bearer.without_session",
    "zkdash.web.visitors.sessions.Sessions",
    "django.middleware.csrf.CsrfViewMiddleware",
    "zkdash.web.visitors.sessions.Visitors",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "zkdash.web.visitors.gate.Answers",
    "zkdash.web.middleware.request_log.Refusals",
]
AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.ModelBackend"]
PASSWORD_HASHERS = ["zkdash.access.hashing.Hasher"]
if ZKDASH_SIGN_IN.ldap is not None:
    AUTHENTICATION_BACKENDS.append("zkdash.access.sso.directory.Directory")
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
FORCE_SCRIPT_NAME = ZKDASH_PREFIX or None
LOGIN_URL = f"{ZKDASH_PREFIX}/sign-in/"
LOGIN_REDIRECT_URL = LOGOUT_REDIRECT_URL = f"{ZKDASH_PREFIX}/"
SESSION_COOKIE_AGE = 12 * 3600
# Another zkdash below another prefix of the host has cookies of its own.
SESSION_COOKIE_PATH = CSRF_COOKIE_PATH = f"{ZKDASH_PREFIX}/"
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
ZKDASH_HTTPS = os.environ.get("ZKDASH_HTTPS") == "1"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = ZKDASH_HTTPS
CSRF_TRUSTED_ORIGINS = ZKDASH_ORIGINS
CSRF_FAILURE_VIEW = "zkdash.web.frame.answers.forged"
# The door refuses longer ones before Django sees them.
DATA_UPLOAD_MAX_MEMORY_SIZE = ZKDASH_LIMITS.form_bytes
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5_000
ROOT_URLCONF = "zkdash.urls"
ASGI_APPLICATION = "zkdash.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [_WHEEL_FILES / "templates" if IS_WHEEL else BASE_DIR / "templates"],
        "APP_DIRS": True,  # the admin's
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
DATABASES = {"default": databases.load(os.environ, DATA_DIR)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

EMAIL_HOST, EMAIL_PORT = _smtp.host, _smtp.port
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _smtp.user, _smtp.password
EMAIL_USE_TLS, EMAIL_USE_SSL = _smtp.over == "starttls", _smtp.over == "tls"
EMAIL_TIMEOUT = 5
DEFAULT_FROM_EMAIL = _smtp.sender

STATIC_URL = "static/"
STATIC_ROOT = _WHEEL_FILES / "static" if IS_WHEEL else BASE_DIR / "var" / "static"
STATICFILES_DIRS = [] if IS_WHEEL else [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    *([] if IS_WHEEL else ["zkdash.web.history.chart_files.ChartFinder"]),  # the wheel holds what it finds
]
# Hashed names once `make` (or serve) has collected; straight from the packages in a bare checkout.
_collected = (STATIC_ROOT / "staticfiles.json").exists() or "collectstatic" in sys.argv
SERVESTATIC_USE_FINDERS = not _collected
SERVESTATIC_AUTOREFRESH = not _collected
STORAGES = {
    "staticfiles": {
        "BACKEND": "zkdash.web.serving.static_storage.StaticStorage"
        if _collected
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    }
}

USE_TZ = True
TIME_ZONE = "UTC"
USE_I18N = False
APPEND_SLASH = True
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
# Where no proxy is known nobody tells what came by https, and a redirect would lead to itself. Who asks
# whether zkdash is well, or for its metrics, asks the process itself.
SECURE_SSL_REDIRECT = ZKDASH_HTTPS and bool(ZKDASH_PROXIES)
SECURE_REDIRECT_EXEMPT = [
    rf"^{re.escape(ZKDASH_PREFIX.lstrip('/'))}/?{name}/?$" for name in ("healthz", "readyz", "metrics")
]
SECURE_HSTS_SECONDS = 30 * 24 * 3600 if ZKDASH_HTTPS else 0
SILENCED_SYSTEM_CHECKS = [
    "security.W002",  # the policy's frame-ancestors says who may frame a page, which embeds may be
    "security.W005",  # what the other hosts of its domain speak is not zkdash's to say
    "security.W021",  # nor that browsers are to be told of it for ever
]
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"()": "zkdash.logs.LineFormatter"},
        "json": {"()": "zkdash.logs.JsonFormatter"},
    },
    "filters": {"brief": {"()": "zkdash.logs.Brief"}, "unanswered": {"()": "zkdash.logs.Unanswered"}},
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": "json" if os.environ.get("ZKDASH_LOG") == "json" else "line",
            "filters": ["brief"],
        }
    },
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {
        "zkdash": {"level": "INFO"},
        "kazoo": {"level": "ERROR"},
        # Django's own handlers are taken away: what it tells comes by the root's.
        "django": {"handlers": [], "level": "WARNING"},
        "django.server": {"handlers": [], "propagate": True},
        "django.request": {"level": "ERROR", "filters": ["unanswered"]},  # a 404 is the visitor's
        "uvicorn.error": {"level": "ERROR"},  # what is no HTTP is the sender's; the door counts it
    },
}
