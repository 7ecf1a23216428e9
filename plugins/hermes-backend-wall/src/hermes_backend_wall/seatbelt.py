"""The profile of the wall on macOS, in the language of ``sandbox-exec``. Nothing uses it yet: it was never run.

The language is a Scheme of which Apple documents little; the forms here are those of the profiles under
``/System/Library/Sandbox/Profiles``. A later rule wins over an earlier one.
"""

from collections.abc import Iterable

from hermes_backend_wall.bounds import Bounds

__all__ = ["profile"]

_SYSTEM = (
    *("/bin", "/sbin", "/usr", "/System", "/Library", "/opt", "/Applications", "/private/etc", "/private/var/select"),
    *("/private/var/db/timezone", "/private/var/db/dyld", "/dev"),
)
_SHUT = ("/private/etc/master.passwd", "/private/etc/sudoers", "/private/etc/ssh", "/Library/Keychains")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/tty", "/dev/dtracehelper")


def profile(bounds: Bounds, *, door: int = 0) -> str:
    """The profile for a workspace; ``door`` is the one port of loopback that may be reached, 0 for none."""
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
        "(allow file-read-metadata)",
        _rule("allow file-read*", "subpath", (*_SYSTEM, *bounds.readable, *writable)),
        _rule("allow file-write*", "subpath", writable),
        _rule("allow file-write-data", "literal", _DEVICES),
        _rule("deny file-read* file-write*", "subpath", (*_SHUT, *bounds.hidden)),
        *([_rule("deny file-write*", "subpath", bounds.fixed)] if bounds.fixed else []),
    ]
    if door:
        lines.append(f'(allow network-outbound (remote ip "localhost:{door}"))')
    return "\n".join(lines) + "\n"


def _rule(what: str, how: str, paths: Iterable[str]) -> str:
    return f"({what} {' '.join(f'({how} {_quoted(path)})' for path in paths)})"


def _quoted(path: str) -> str:
    text = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'
