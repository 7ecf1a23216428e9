"""Logins that other programs keep, read with a person's yes.

They are read each time and never renewed: a refresh token is good once, and whoever renews it logs the other program
out. The formats are those that the programs write: ``~/.codex/auth.json`` of the Codex CLI, ``hosts.yml`` of ``gh``.
"""

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hermes_core.errors import UserError
from hermes_login.tokens import Tokens, ends_of, is_token, is_value

__all__ = ["path_of", "read_foreign"]

_MOST = 1024 * 1024  # bytes of a file


def path_of(program: str) -> Path:
    """Return where a program (``codex``, ``gh``) keeps its login."""
    if program == "codex":
        return Path(os.environ.get("CODEX_HOME") or "~/.codex").expanduser() / "auth.json"
    settings = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(os.environ.get("GH_CONFIG_DIR") or f"{settings}/gh").expanduser() / "hosts.yml"


def read_foreign(program: str) -> Tokens:
    """Read the login of a program. Raises UserError where there is none that can be used."""
    path = path_of(program)
    hint = "Log in there first: codex login" if program == "codex" else "Log in there first: gh auth login"
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode) or status.st_uid != os.getuid() or status.st_size > _MOST:
                raise UserError(f"{path} is no file of yours that could be a login.")
            data = file.read(_MOST)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.", hint=hint) from None
    found = _of_codex(data) if program == "codex" else _of_gh(data)
    if found is None:
        raise UserError(f"{path} holds no login.", hint=hint)
    return found


def _of_codex(data: bytes) -> Tokens | None:
    try:
        found: Any = json.loads(data)
    except (ValueError, RecursionError):
        return None
    tokens: Any = found.get("tokens") if isinstance(found, dict) else None
    if not isinstance(tokens, dict):
        return None
    access = tokens.get("access_token")
    if not isinstance(access, str) or not is_token(access):
        return None
    account = tokens.get("account_id")
    headers = {"chatgpt-account-id": str(account)} if is_value(account) else {}
    return Tokens(access=access, ends=ends_of(access), headers=headers)


def _of_gh(data: bytes) -> Tokens | None:
    import yaml

    try:
        found: Any = yaml.safe_load(data)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError):
        return None
    host = found.get("github.com") if isinstance(found, Mapping) else None
    token = host.get("oauth_token") if isinstance(host, Mapping) else None
    return Tokens(access=token) if isinstance(token, str) and is_token(token) else None
