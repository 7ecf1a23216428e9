"""Addresses: one for the driver, and one for people, without the password."""

from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from hermes_core.errors import UserError

__all__ = ["parsed"]

_DEFAULTS: dict[str, Any] = {
    "application_name": "hermes",
    "client_encoding": "utf8",
    "connect_timeout": 10,
    "keepalives_idle": 15,  # seconds; a server that vanished is found out while nobody waits for it
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15000,  # milliseconds
}
_HINT_URL = "Check store.url; it looks like postgresql://USER:PASSWORD@HOST:5432/DATABASE."


def parsed(url: str) -> tuple[str, str]:
    """An address for the driver, and one for people. Raises UserError, without a word of what may be a password."""
    try:
        if not url.startswith(("postgresql://", "postgres://")):
            raise ValueError
        given = conninfo_to_dict(url)
    except (ValueError, psycopg.Error):
        raise UserError("store.url is not an address of a PostgreSQL server.", hint=_HINT_URL) from None
    host, port, name = (str(given.get(key) or "") for key in ("host", "port", "dbname"))
    if "@" in host + name or not port.replace(",", "").isdigit() * bool(port) + (not port):
        hint = "Write special characters of the password as %40 for @, %2F for /, %3A for : and %23 for #."
        raise UserError("store.url cannot be read: host and port are not clear.", hint=hint)
    shown = "postgresql://" + (host if "/" not in host else "") + (f":{port}" if port else "") + f"/{name}"
    return make_conninfo(**{**_DEFAULTS, **given}), shown
