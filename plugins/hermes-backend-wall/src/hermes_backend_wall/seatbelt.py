"""The wall of macOS: a profile in the language of ``sandbox-exec``, and the command behind it. Never run on a Mac yet.

The language is a Scheme of which Apple documents little; the forms here are those of the profiles under
``/System/Library/Sandbox/Profiles``. A later rule wins over an earlier one. A wall of this kind is put around each
command by itself: nothing of ours runs on in it, so there is no way out for the network, and nothing counts what
commands use.
"""

import sys
from collections.abc import Iterable, Sequence

from hermes_backend_kit.walls import LASTING, LOOSE, SEEN, UNCOUNTED
from hermes_backend_wall.bounds import Bounds
from hermes_core.errors import ToolError

__all__ = ["MISSING", "PROGRAM", "behind", "profile"]

PROGRAM = "/usr/bin/sandbox-exec"
MISSING = (SEEN, LOOSE, UNCOUNTED, LASTING)
_SYSTEM = (
    *("/bin", "/sbin", "/usr", "/System", "/Library", "/opt", "/Applications", "/private/etc", "/private/var/select"),
    *("/private/var/db/timezone", "/private/var/db/dyld", "/dev"),
)
_SHUT = ("/private/etc/master.passwd", "/private/etc/sudoers", "/private/etc/ssh", "/Library/Keychains")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/tty", "/dev/dtracehelper", "/dev/ptmx")
_SERVICES = (  # whom programs ask for the names of users, for what is logged, and whether a certificate is good
    "com.apple.system.opendirectoryd.libinfo",
    "com.apple.system.notification_center",
    "com.apple.system.logger",
    "com.apple.trustd.agent",
)


def behind(argv: Sequence[str], bounds: Bounds) -> list[str]:
    """A command behind this wall. Raises ToolError where there is no macOS."""
    if sys.platform != "darwin":
        raise ToolError("Seatbelt is the wall of macOS.", hint="hermes config unset backends.local.wall", retry=False)
    return [PROGRAM, "-p", profile(bounds), *argv]


def profile(bounds: Bounds) -> str:
    """The profile for a workspace."""
    writable = (bounds.source, bounds.home, bounds.scratch, *bounds.writable)
    lines = [
        "(version 1)",
        "(deny default)",
        "(allow process-fork)",
        "(allow process-exec)",
        "(allow signal (target same-sandbox))",
        "(allow process-info* (target same-sandbox))",
        "(allow sysctl-read)",
        "(allow pseudo-tty)",
        "(allow ipc-posix-sem)",
        _rule("allow mach-lookup", "global-name", _SERVICES),
        '(allow network-bind (local ip "localhost:*"))',
        '(allow network-inbound (local ip "localhost:*"))',
        "(allow file-read-metadata)",
        '(allow file-read-data (literal "/"))',
        _rule("allow file-read*", "subpath", (*_SYSTEM, *bounds.readable, *writable)),
        _rule("allow file-write*", "subpath", writable),
        _rule("allow file-write-data file-ioctl", "literal", _DEVICES),
        _rule("deny file-read* file-write*", "subpath", (*_SHUT, *bounds.hidden)),
    ]
    if bounds.fixed:
        lines.append(_rule("deny file-write*", "subpath", bounds.fixed))
    return "\n".join(lines) + "\n"


def _rule(what: str, how: str, paths: Iterable[str]) -> str:
    return f"({what} {' '.join(f'({how} {_quoted(path)})' for path in paths)})"


def _quoted(path: str) -> str:
    text = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'
