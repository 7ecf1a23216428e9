"""What lasts from one ``bash -c`` to the next: the folder and the exported variables.

No shell is kept running. Each command gets an exit trap that writes where it ended up into memory of the container;
our own shell hands that on behind the output. It is kept here, so that it outlives the container.
"""

from collections.abc import Mapping, Sequence
from uuid import uuid4

from hermes_core.commands import is_shell

__all__ = ["Shell", "is_shell"]

NOT_KEPT = frozenset({"_", "SHLVL", "PWD", "OLDPWD", "HERMES_RUN", "HERMES_WARDEN"})


class Shell:
    """The state that lasts, as changes to where the workspace began."""

    def __init__(self, cwd: str) -> None:
        self.cwd = cwd
        self.env: dict[str, str] = {}
        self.removed: set[str] = set()

    def wrap(self, argv: Sequence[str], bash: str, given: Mapping[str, str]) -> tuple[Sequence[str], str]:
        """The command with the trap in front, on the same line, and the file its state will be in.

        ``bash`` is where it is, for a PATH that was changed need not lead there. ``given`` are the command's variables.
        """
        file = f"/run/hermes.{uuid4().hex}"
        # The variables as a program gets them, so there is no quoting to undo; found also where PATH is broken.
        state = 'builtin printf "%s\\0" "$PWD"; builtin command -p cat /proc/self/environ'
        gone = f"unset -v {' '.join(sorted(self.removed - given.keys()))}; " if self.removed - given.keys() else ""
        return (
            bash if argv[0] == "bash" and bash else argv[0],
            argv[1],
            f"{gone}trap '{{ {state}; }} 2>/dev/null >{file}' EXIT; {argv[2]}",
        ), file

    def learn(self, state: bytes, began_in: str, began_with: Mapping[str, str]) -> None:
        """Take over what one command changed; ``began_with`` is all it saw."""
        folder, separator, rest = state.partition(b"\0")
        if not separator:
            return
        variables = _parsed(rest)
        here = folder.decode(errors="replace")
        if here != began_in and "\ufffd" not in here:
            self.cwd = here
        for name in (began_with.keys() | variables.keys()) - NOT_KEPT:
            value = variables.get(name)
            if value == began_with.get(name):
                continue
            if value is None:
                self.env.pop(name, None)
                self.removed.add(name)
            else:
                self.env[name] = value
                self.removed.discard(name)


def _parsed(environ: bytes) -> dict[str, str]:
    found = {}
    for entry in environ.split(b"\0"):
        name, equals, value = entry.partition(b"=")
        try:
            # Functions that bash exports have names no other shell would take.
            if equals and name.decode("ascii").isidentifier():
                found[name.decode("ascii")] = value.decode()
        except UnicodeDecodeError:  # the daemon takes text only
            continue
    return found
