"""Whether a caller gets through the host what it would get without it."""

import os
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hermes_core import __version__
from hermes_core.context import PluginContext
from hermes_core.environment import is_secret
from hermes_front.wire import PROTOCOL

__all__ = ["Callers"]

_SAME = {"HOME", "TZ", "PYTHONPATH", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR"}
_COMMANDS = ("gateway", "host")


class Callers:
    """Compares callers with this process, as it was when this was made."""

    def __init__(self, ctx: PluginContext, words: Sequence[str] | None = None) -> None:
        self._ctx, self._prefix = ctx, f"{ctx.program.upper().replace('-', '_')}_"
        self._usual = _as_usual(sys.argv[1:] if words is None else words)
        self._files, self._packages = self._stamps(), _packages()
        self._umask = _umask()
        self._foreign = b"_config_version" in (_read(ctx.paths.home / "config.yaml"))

    def why_not(self, told: Mapping[str, Any]) -> str:
        """Say why a caller goes without the host, in a word or words; empty where it makes no difference."""
        if told.get("hello") != PROTOCOL or told.get("version") != __version__:
            return "version"
        if told.get("prefix") != sys.prefix:
            return "another installation"
        if not _same_folder(told.get("home"), self._ctx.paths.home):
            return "another home"
        env = told.get("env")
        if not isinstance(env, dict) or not all(isinstance(one, str) for pair in env.items() for one in pair):
            return "no environment"
        if name := self._other_variable(env):
            return f"another {name}"
        if told.get("umask") != self._umask:
            return "another umask"
        if not self._usual:
            return "the host was started with settings of its own"
        if self._foreign or self._changed():
            return "settings changed since the host began"
        return ""

    def _changed(self) -> bool:
        """Tell whether settings, secrets or plugins are other ones now."""
        now = self._stamps()
        if now != self._files and now[:-1] == self._files[:-1] and _packages() == self._packages:
            self._files = (
                now  # the first imports of an installation leave a folder of compiled files beside the packages
            )
        return now != self._files

    def _other_variable(self, env: Mapping[str, str]) -> str:
        """Return the first variable that counts for Hermes itself, and is another one there than here."""
        here = os.environ
        # Which home they name was compared; a service of the system has a folder of that name.
        ours = (f"{self._prefix}HOME", f"{self._prefix}PROFILE", "CREDENTIALS_DIRECTORY")
        for name in sorted({*env, *here}):
            theirs, mine = env.get(name), here.get(name)
            if theirs == mine or name in ours:
                continue
            counts = name in _SAME or name.startswith(self._prefix) or name.upper().endswith("_PROXY")
            if counts or is_secret(name, theirs or "") or is_secret(name, mine or ""):
                return name
        return ""

    def _stamps(self) -> Sequence[object]:
        """Return what tells that settings, secrets or plugins are other ones now."""
        home = self._ctx.paths.home
        managed = Path("/etc", self._ctx.program, "config.yaml")
        own = [home / name for name in ("config.yaml", ".env", "plugins.lock", "plugins")]
        return [_stamp(one) for one in (*own, managed, _site())]


def _as_usual(words: Sequence[str]) -> bool:
    """Tell whether nothing on this program's command line changes how it answers."""
    left = list(words)
    while left and left[0].startswith(("-p", "--profile")):
        del left[: 1 if "=" in left[0] or left[0] not in ("-p", "--profile") else 2]
    return bool(left) and left[0] in _COMMANDS


def _site() -> Path:
    return Path(sysconfig.get_paths()["purelib"])


def _packages() -> Mapping[str, object]:
    """Return what is installed, and what tells that it is another one now."""
    try:
        found = [one for one in _site().iterdir() if one.suffix in (".dist-info", ".pth", ".egg-link")]
    except OSError:
        return {}
    return {one.name: _stamp(one) for one in found}


def _stamp(path: Path) -> object:
    try:
        told = path.stat()
    except OSError:
        return None
    return told.st_ino, told.st_size, told.st_mtime_ns


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _same_folder(one: object, other: Path) -> bool:
    return isinstance(one, str) and os.path.realpath(one) == os.path.realpath(other)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
