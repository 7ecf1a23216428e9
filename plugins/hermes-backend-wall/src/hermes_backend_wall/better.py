"""What would make the wall better on this machine: commands for a person to agree to."""

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from hermes_backend_wall import bwrap

__all__ = ["better"]

_MANAGERS = (  # the first that is there
    ("apt-get", "install", "-y"),
    ("dnf", "install", "-y"),
    ("pacman", "-S", "--noconfirm"),
    ("zypper", "--non-interactive", "install"),
    ("apk", "add"),
    ("xbps-install", "-y"),
)
_SWITCHES = (("user/max_user_namespaces", "0", "15000"), ("kernel/unprivileged_userns_clone", "0", "1"))
_PROFILES = Path("/etc/apparmor.d")


def better() -> Sequence[Sequence[str]]:
    """Commands that let bubblewrap make a wall where it cannot now, each as its words; none where it can, or never."""
    root = _as_root()
    if sys.platform != "linux" or root is None:
        return ()
    found: list[tuple[str, ...]] = []
    if not bwrap.installed():
        manager = next((words for words in _MANAGERS if shutil.which(words[0])), None)
        if manager is None:
            return ()
        found.append((*root, *manager, "bubblewrap"))
    for name, forbidden, allowed in _SWITCHES:
        if bwrap.setting(name) == forbidden:
            line, place = f"{name.replace('/', '.')} = {allowed}", f"/etc/sysctl.d/60-{name.rpartition('/')[2]}.conf"
            found.append((*root, "sh", "-c", f"echo {shlex.quote(line)} > {place} && sysctl --load={place}"))
    if bwrap.setting("kernel/apparmor_restrict_unprivileged_userns") == "1" and not _has_profile():
        found.append((*root, "sh", "-c", bwrap.profile(shutil.which("bwrap") or "/usr/bin/bwrap")))
    return found


def _as_root() -> tuple[str, ...] | None:
    """What a command begins with so that root runs it; None where this person cannot become root."""
    if os.geteuid() == 0:
        return ()
    return next(((name,) for name in ("sudo", "doas") if shutil.which(name)), None)


def _has_profile() -> bool:
    return any((_PROFILES / name).exists() for name in ("bwrap", "bwrap-userns-restrict"))
