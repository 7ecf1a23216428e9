"""What lasts from one bash command to the next: the folder and the exported variables.

Each ``bash -c`` gets an exit trap that writes where it ended up into a file in memory, which cannot grow: what comes
from inside is never trusted to be small. A command that replaces the trap or the shell simply leaves no trace.
"""

import fcntl
import os
from collections.abc import Mapping, Sequence

from hermes_core.commands import parse_exports

# A command may use low descriptors itself (exec 3>file), so the trap's one is far away from those.
DESCRIPTOR = 100
ROOM = 1 << 20
NOT_KEPT = frozenset({"_", "SHLVL", "PWD", "HERMES_RUN"})
END = b"="  # after it the state is whole
USUAL = 1 << 16


class Trace:
    """The file one command leaves its state in."""

    def __init__(self) -> None:
        self.descriptor = os.memfd_create("hermes-shell", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.truncate(self.descriptor, ROOM)
        fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)

    @staticmethod
    def wrap(argv: Sequence[str]) -> list[str]:
        """The command with the trap in front, on the same line, so that bash counts lines as before."""
        state = 'set +x; builtin export -n HERMES_RUN; builtin printf "%s\\0" "$PWD"; builtin export -p; '
        state += 'builtin printf "\\0="'
        save = f"{{ {state}; }} >&{DESCRIPTOR} 2>/dev/null"
        return [argv[0], argv[1], f"trap '{save}' EXIT; {argv[2]}"]

    def read(self) -> tuple[str, dict[str, str]] | None:
        """Folder and exported variables at the end, or None when the command left none."""
        data = os.pread(self.descriptor, USUAL, 0)
        if data[-1:] != b"\0":
            data = os.pread(self.descriptor, ROOM, 0)
        folder, declared, rest = [*data.split(b"\0", 2), b"", b""][:3]
        if not folder.startswith(b"/") or not rest.startswith(END):
            return None
        return os.fsdecode(folder), parse_exports(declared)

    def close(self) -> None:
        """Forget it."""
        os.close(self.descriptor)


class Shell:
    """The state that lasts, as changes to where the workspace began."""

    def __init__(self, cwd: str, env: Mapping[str, str]) -> None:
        self.cwd = cwd
        self.env = dict(env)

    def learn(self, trace: Trace, began_in: str, began_with: Mapping[str, str]) -> None:
        """Take over what one command changed, and only that: others may run beside it."""
        state = trace.read()
        if state is None:
            return
        folder, variables = state
        if folder != began_in:
            self.cwd = folder
        for name in (began_with.keys() | variables.keys()) - NOT_KEPT:
            value = variables.get(name)
            if value == began_with.get(name):
                continue
            if value is None:
                self.env.pop(name, None)
            else:
                self.env[name] = value
