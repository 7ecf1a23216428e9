"""What of an environment is a secret, and what commands get: everything else.

A model's command may print its environment, so what authenticates Hermes or its owner is taken out by name and look.
"""

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from functools import lru_cache

from hermes_core.patterns import pattern

__all__ = ["LOCKS", "MARK", "caller", "for_commands", "hide_memory", "is_secret", "switched_on", "without_secrets"]

MARK = "HERMES_RUN"  # a variable of every command that a tool runs, and of all that it starts
LOCKS = 0x4845524D4553  # the most file locks of a command: Linux heeds it no more, and nothing it starts raises it
_SECRET_NAME = pattern(
    r"KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|CREDS|AUTH|DSN|WEBHOOK|BEARER|COOKIE|JWT|CONN(ECTION)?_?STR"
    r"|SERVICE_ACCOUNT|_PWD$|_PAT$|(^|_)(PASS|PW|PIN|OTP|SALT|PRIVATE)($|_)"
)
_SECRET_VALUE = pattern(r"-----BEGIN [A-Z ]*PRIVATE KEY|AccountKey=|\"private_key\"")
# Names that hold one of those words and no secret: without them git, ssh-agent and X programs stop working.
_HARMLESS = frozenset(
    {"SSH_AUTH_SOCK", "XAUTHORITY", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_AUTHOR_DATE", "KEYBOARD_LAYOUT"}
)
_HARMLESS_PREFIXES = ("LC_", "XDG_", "CONDA_PREFIX", "CONDA_DEFAULT_ENV")
looks_secret: Callable[[str], bool] | None = None  # what maskers of plugins say of a value; set by ``masking``
_PASSWORD_IN_URL = pattern(r"://[^/@\s:]*:[^/@\s]+@")


def switched_on(name: str) -> bool:
    """Tell whether a variable of this process says yes: it is set, and not to 0, false, no, n or off in any case."""
    return os.environ.get(name, "").strip().lower() not in ("", "0", "false", "no", "n", "off")


def is_secret(name: str, value: str) -> bool:
    """Tell whether a variable looks like a secret, by its name or because its value is an address with a password."""
    upper = name.upper()
    if upper in _HARMLESS or upper.startswith(_HARMLESS_PREFIXES):
        return False
    if _SECRET_NAME.search(upper):
        return True
    known = len(value) >= 16 and looks_secret is not None and looks_secret(value)  # a token, to who knows services
    if known or _SECRET_VALUE.search(value):
        return True
    return not upper.endswith("_PROXY") and bool(_PASSWORD_IN_URL.search(value))


def without_secrets(environ: Mapping[str, str], passthrough: Iterable[str] = ()) -> dict[str, str]:
    """Return a copy of an environment without its secrets, except for the names the user lets through."""
    wanted = frozenset(passthrough)
    return {name: value for name, value in environ.items() if name in wanted or not is_secret(name, value)}


caller: ContextVar[Mapping[str, str] | None] = ContextVar("caller", default=None)  # whose turn a host plays


def for_commands() -> Mapping[str, str]:
    """Return the variables that a command begins with: those of its ``caller``, or of this process, but no secrets."""
    if (theirs := caller.get()) is not None:
        return without_secrets(theirs)
    return _for_commands(tuple(getattr(os.environ, "_data", os.environ).items()), looks_secret)  # undecoded: dear


@lru_cache(maxsize=1)  # every command asks, and hardly ever has anything changed
def _for_commands(_stored: tuple[object, ...], _judge: Callable[[str], bool] | None) -> Mapping[str, str]:
    return without_secrets(os.environ)


@lru_cache(maxsize=1)
def hide_memory() -> bool:
    """Close the environment and the memory of this process to others of its user; False where the system cannot.

    The compiled half of ctypes is enough for one call, and costs a tenth of all of it.
    """
    if sys.platform != "linux":
        return False
    try:
        import _ctypes
    except ImportError:
        return False
    set_dumpable = 4  # of linux/prctl.h
    this = _ctypes.dlopen(None, 0)  # type: ignore[arg-type]  # the stub knows no None
    return bool(_ctypes.call_function(_ctypes.dlsym(this, "prctl"), (set_dumpable, 0)) == 0)
