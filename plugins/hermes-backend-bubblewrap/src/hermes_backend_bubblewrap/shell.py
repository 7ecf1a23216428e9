"""What lasts from one bash command to the next: the folder and the exported variables.

Each ``bash -c`` gets an exit trap that writes where it ended up into a file in memory, which cannot grow: what comes
from inside is never trusted to be small. A command that replaces the trap or the shell simply leaves no trace.
"""

import fcntl
import os
from collections.abc import Mapping, Sequence

# A command may use low descriptors itself (exec 3>file), so the trap's one is far away from those.
DESCRIPTOR = 100
ROOM = 1 << 20
NOT_KEPT = frozenset({"_", "SHLVL", "PWD", "HERMES_RUN"})
_END = b"=end"  # no variable has an empty name


def is_shell(argv: Sequence[str]) -> bool:
    """Whether a command is one whose folder and variables should last."""
    return len(argv) == 3 and argv[1] == "-c" and argv[0].rpartition("/")[2] == "bash"


class Trace:
    """The file one command leaves its state in."""

    def __init__(self) -> None:
        self.descriptor = os.memfd_create("hermes-shell", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.truncate(self.descriptor, ROOM)
        fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)

    @staticmethod
    def wrap(argv: Sequence[str]) -> list[str]:
        """The command with the trap in front, on the same line, so that bash counts lines as before."""
        state = 'set +x; builtin printf "%s\\0" "$PWD"; /usr/bin/env -0; builtin printf "=end\\0"'
        save = f"{{ {state}; }} >&{DESCRIPTOR} 2>/dev/null"
        return [argv[0], argv[1], f"trap '{save}' EXIT; {argv[2]}"]

    def read(self) -> tuple[str, dict[str, str]] | None:
        """Folder and exported variables at the end, or None when the command left none."""
        entries = os.pread(self.descriptor, ROOM, 0).rstrip(b"\0").split(b"\0")
        if len(entries) < 2 or entries[-1] != _END or not entries[0].startswith(b"/"):
            return None
        pairs = (os.fsdecode(entry).partition("=") for entry in entries[1:-1])
        return os.fsdecode(entries[0]), {name: value for name, _, value in pairs if name}

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
