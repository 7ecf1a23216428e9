"""Logins that other programs keep, read with a person's yes.

They are read each time and never renewed there: a refresh token is good once, and whoever renews it logs the other
program out. The formats are those that the programs write: ``~/.codex/auth.json`` of the Codex CLI, ``hosts.yml`` of
``gh``, ``~/.claude/.credentials.json`` of Claude Code, ``~/.qwen/oauth_creds.json`` of Qwen Code, and
``application_default_credentials.json`` of ``gcloud`` or the key of a service account, of which tokens are made.
"""

import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hermes_core.errors import UserError
from hermes_core.values import frozen
from hermes_login.tokens import Tokens, ends_of, is_token, is_value

__all__ = ["PROGRAMS", "Program", "expanded", "path_of", "read_bytes", "read_foreign", "secrets_of"]

_MOST = 1024 * 1024  # bytes of a file


@frozen
class Program:
    """A program that keeps a login. ``what`` says in words what its file is, ``again`` how a person logs in there."""

    title: str
    what: str
    again: str
    path: Callable[[], Path]
    read: Callable[[bytes], Tokens | None]


def path_of(program: str) -> Path:
    """Return where a program keeps its login, whether it is there or not."""
    return PROGRAMS[program].path()


def expanded(path: str) -> Path:
    """Return a path with ``~`` followed; that of somebody who is not known here stays as it is, and leads nowhere."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 - Path.expanduser raises RuntimeError for nobody's


def read_foreign(program: str, path: str = "") -> Tokens:
    """Read the login of a program, in its usual file or another. Raises UserError where none can be used."""
    file, known = Path(path) if path else path_of(program), PROGRAMS[program]
    hint = f"Log in there first: {known.again}"
    found = known.read(read_bytes(file, hint))
    if found is None:
        raise UserError(f"{file} holds no login.", hint=hint)
    return found


def read_bytes(path: Path, hint: str = "") -> bytes:
    """Read a file of this person that is no link. Raises UserError."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode) or status.st_uid != os.getuid() or status.st_size > _MOST:
                raise UserError(f"{path} is no file of yours that could be a login.")
            return file.read(_MOST)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.", hint=hint) from None


def secrets_of(program: str, path: str = "") -> Iterator[str]:
    """Yield what of a program's login must be seen nowhere. Raises UserError where it cannot be read."""
    tokens = read_foreign(program, path)
    yield from filter(None, (tokens.access, tokens.refresh, *tokens.more))


def _folder(variable: str, usual: str) -> Path:
    return expanded(os.environ.get(variable) or usual)


def _gh() -> Path:
    return _folder("GH_CONFIG_DIR", f"{os.environ.get('XDG_CONFIG_HOME') or '~/.config'}/gh") / "hosts.yml"


def _gcloud() -> Path:
    if named := os.environ.get("GOOGLE_APPLICATION_CREDENTIALS"):
        return expanded(named)
    return _folder("CLOUDSDK_CONFIG", "~/.config/gcloud") / "application_default_credentials.json"


def _object(data: bytes) -> Mapping[str, Any]:
    try:
        found: Any = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _inside(data: bytes, name: str) -> Mapping[str, Any]:
    found = _object(data).get(name)
    return found if isinstance(found, dict) else {}


def _milliseconds(value: object) -> float:
    good = isinstance(value, int | float) and not isinstance(value, bool) and 1e11 < value < 1e14
    return float(value) / 1000 if good else 0.0  # type: ignore[arg-type]


def _of_codex(data: bytes) -> Tokens | None:
    tokens = _inside(data, "tokens")
    access, account = tokens.get("access_token"), tokens.get("account_id")
    if not isinstance(access, str) or not is_token(access):
        return None
    headers = {"chatgpt-account-id": str(account)} if is_value(account) else {}
    return Tokens(access=access, ends=ends_of(access), headers=headers)


def _of_claude(data: bytes) -> Tokens | None:
    found = _inside(data, "claudeAiOauth")
    access = found.get("accessToken")
    if not isinstance(access, str) or not is_token(access):
        return None
    return Tokens(access=access, ends=_milliseconds(found.get("expiresAt")))


def _of_qwen(data: bytes) -> Tokens | None:
    found = _object(data)
    access, place = found.get("access_token"), found.get("resource_url")
    if not isinstance(access, str) or not is_token(access):
        return None
    where = place if isinstance(place, str) and is_value(place) else ""
    return Tokens(access=access, ends=_milliseconds(found.get("expiry_date")), place=where)


def _of_gh(data: bytes) -> Tokens | None:
    import yaml

    try:
        found: Any = yaml.safe_load(data)
    except (yaml.YAMLError, ValueError, RecursionError):  # ValueError: a date or a number that is none
        return None
    host = found.get("github.com") if isinstance(found, Mapping) else None
    token = host.get("oauth_token") if isinstance(host, Mapping) else None
    return Tokens(access=token) if isinstance(token, str) and is_token(token) else None


def _of_gcloud(data: bytes) -> Tokens | None:
    from hermes_login.google import Credentials

    return Credentials.read(data).as_tokens()


PROGRAMS: Mapping[str, Program] = {
    "claude": Program(
        "Claude Code",
        "the login of Claude Code to a Claude plan",
        "claude",
        lambda: _folder("CLAUDE_CONFIG_DIR", "~/.claude") / ".credentials.json",
        _of_claude,
    ),
    "codex": Program(
        "the Codex CLI",
        "the login of the Codex CLI to a ChatGPT plan",
        "codex login",
        lambda: _folder("CODEX_HOME", "~/.codex") / "auth.json",
        _of_codex,
    ),
    "gcloud": Program(
        "gcloud",
        "Google's application default credentials: a person's login, or the key of a service account",
        "gcloud auth application-default login",
        _gcloud,
        _of_gcloud,
    ),
    "gh": Program("gh", "the login of gh to GitHub, with all that gh may do", "gh auth login", _gh, _of_gh),
    "qwen": Program(
        "Qwen Code",
        "the login of Qwen Code to Qwen",
        "qwen",
        lambda: expanded("~/.qwen/oauth_creds.json"),
        _of_qwen,
    ),
}
