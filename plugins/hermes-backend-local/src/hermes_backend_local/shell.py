"""What lasts from one shell command to the next: the folder and the exported variables.

No shell is kept running. Each ``bash -c`` gets an exit trap that writes where it ended up, with builtins only, to a
file in memory; what differs from where it began is kept for the next one. So commands that run side by side do not
undo each other's changes, and a command that replaces the trap or the shell simply leaves no trace.
"""

import fcntl
import os
import tempfile
from collections.abc import Mapping, Sequence

from hermes_core.commands import parse_exports

# A command may use low descriptors itself (exec 3>file), so the trap's one is far away from those.
DESCRIPTOR_FLOOR = 100
NOT_KEPT = frozenset({"_", "SHLVL", "PWD", "HERMES_RUN"})


class Trace:
    """The file one command leaves its state in."""

    def __init__(self) -> None:
        if hasattr(os, "memfd_create"):
            first = os.memfd_create("hermes-shell")
        else:
            first, path = tempfile.mkstemp(prefix="hermes-shell-")
            os.unlink(path)  # noqa: PTH108 - one call on a descriptor's own path
        self.descriptor = fcntl.fcntl(first, fcntl.F_DUPFD_CLOEXEC, DESCRIPTOR_FLOOR)
        os.close(first)

    def wrap(self, argv: Sequence[str]) -> list[str]:
        """The command with the trap in front, on the same line, so that bash counts lines as before."""
        fd = self.descriptor
        state = 'set +x; builtin export -n HERMES_RUN; builtin printf "%s\\0" "$PWD"; builtin export -p'
        save = f"{{ {state}; }} >&{fd} 2>/dev/null"
        return [argv[0], argv[1], f"trap '{save}' EXIT; {argv[2]}"]

    def read(self) -> tuple[str, bytes] | None:
        """Folder and declarations at the end, or None when the command left none."""
        size = os.fstat(self.descriptor).st_size
        folder, separator, declared = os.pread(self.descriptor, size, 0).partition(b"\0")
        return (os.fsdecode(folder), declared) if separator else None

    def close(self) -> None:
        """Forget it."""
        os.close(self.descriptor)


class Shell:
    """The state that lasts, as changes to where the workspace began."""

    def __init__(self, cwd: str, env: Mapping[str, str]) -> None:
        self.cwd = cwd
        self.env = dict(env)
        self._known: tuple[bytes, dict[str, str]] = (b"", {})

    def learn(self, trace: Trace, began_in: str, began_with: Mapping[str, str]) -> None:
        """Take over what one command changed."""
        state = trace.read()
        if state is None:
            return
        folder, declared = state
        if folder != began_in and folder != os.path.realpath(began_in):
            self.cwd = folder
        if declared != self._known[0]:  # most commands change nothing, and parsing costs more than comparing
            self._known = (declared, parse_exports(declared))
        variables = self._known[1]
        for name in (began_with.keys() | variables.keys()) - NOT_KEPT:
            value = variables.get(name)
            if value == began_with.get(name):
                continue
            if value is None:
                self.env.pop(name, None)
            else:
                self.env[name] = value
