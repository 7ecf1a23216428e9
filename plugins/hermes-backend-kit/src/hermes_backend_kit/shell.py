"""What lasts from one ``bash -c`` to the next: the folder and the exported variables.

No shell is kept running. Each command gets an exit trap that tells where it ended up, with builtins only; what differs
from where it began is kept for the next one. So commands that run side by side do not undo each other's changes, and a
command that replaces the trap or the shell simply leaves no trace. Where the trap writes is the backend's own.
"""

import os
import re
from collections.abc import Collection, Mapping, Sequence

from hermes_core.environment import MARK
from hermes_core.patterns import pattern

__all__ = ["NOT_KEPT", "TELL", "Shell", "is_shell", "parse_exports", "trapped"]

# The folder, a NUL, and the variables as `parse_exports` reads them. Without the mark they are the same each time.
TELL = f'set +x; builtin export -n {MARK}; builtin printf "%s\\0" "$PWD"; builtin export -p'
NOT_KEPT = frozenset({"_", "SHLVL", "PWD", MARK})
_DECLARED = pattern(
    rb"""declare\ -[a-wyzA-Z]*x[a-zA-Z]*\ (?P<name>[A-Za-z_][A-Za-z0-9_]*)
         =(?: "(?P<plain>(?:[^"\\]|\\.)*)" | \$'(?P<coded>(?:[^'\\]|\\.)*)' )\n""",
    re.VERBOSE | re.DOTALL,
)
_CODES = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"e": b"\x1b", b"E": b"\x1b", b"f": b"\f"}
_CODES[b"v"] = b"\v"


def is_shell(argv: Sequence[str]) -> bool:
    """Whether a command is one whose folder and variables should last."""
    return len(argv) == 3 and argv[1] == "-c" and argv[0].rpartition("/")[2] == "bash"


def trapped(argv: Sequence[str], tell: str, to: str) -> list[str]:
    """A shell's command with the trap in front, on the same line, so that bash counts lines as before.

    ``tell`` is what the trap runs, without single quotes; ``to`` the redirection of what it says.
    """
    return [argv[0], argv[1], f"trap '{{ {tell}; }} 2>/dev/null {to}' EXIT; {argv[2]}"]


class Shell:
    """The state that lasts, as changes to where a workspace began: variables that were set, and those removed."""

    def __init__(self, cwd: str) -> None:
        self.cwd = cwd
        self.env: dict[str, str] = {}
        self.removed: set[str] = set()

    def over(self, base: Mapping[str, str]) -> dict[str, str]:
        """The variables of a place, as earlier commands changed them."""
        return {name: value for name, value in base.items() if name not in self.removed} | self.env

    def learn(
        self,
        folder: str,
        variables: Mapping[str, str],
        began_in: str,
        began_with: Mapping[str, str],
        not_kept: Collection[str] = NOT_KEPT,
    ) -> None:
        """Take over what one command changed, and only that: others may run beside it."""
        if folder != began_in:
            self.cwd = folder
        for name in began_with.keys() | variables.keys():
            value = variables.get(name)
            if name in not_kept or value == began_with.get(name):
                continue
            if value is None:
                self.env.pop(name, None)
                self.removed.add(name)
            else:
                self.env[name] = value
                self.removed.discard(name)


def parse_exports(text: bytes) -> dict[str, str]:
    """The variables in the output of bash's ``export -p``."""
    found = {}
    for match in _DECLARED.finditer(text):
        plain, coded = match["plain"], match["coded"]
        value = re.sub(rb"\\(.)", rb"\1", plain, flags=re.DOTALL) if coded is None else _decode(coded)
        found[os.fsdecode(match["name"])] = os.fsdecode(value)
    return found


def _decode(coded: bytes) -> bytes:
    def one(match: re.Match[bytes]) -> bytes:
        code = match[1]
        if code[:1] in b"01234567":
            return bytes([int(code, 8) & 255])
        return _CODES.get(code, code)

    return re.sub(rb"\\([0-7]{1,3}|.)", one, coded, flags=re.DOTALL)
