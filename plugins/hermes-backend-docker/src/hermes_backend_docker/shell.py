"""How a bash command in a container tells where it ended up: an exit trap writes into memory of the container.

Our own shell hands that on behind the output. What lasts is kept here, so that it outlives the container.
"""

from collections.abc import Collection, Sequence
from uuid import uuid4

from hermes_backend_kit import shell
from hermes_backend_kit.shell import trapped

__all__ = ["NOT_KEPT", "state_of", "wrap"]

NOT_KEPT = shell.NOT_KEPT | {"OLDPWD", "HERMES_WARDEN"}
# The variables as a program gets them, so there is no quoting to undo; found also where PATH is broken.
_TELL = 'builtin printf "%s\\0" "$PWD"; builtin command -p cat /proc/self/environ'


def wrap(argv: Sequence[str], bash: str, removed: Collection[str]) -> tuple[Sequence[str], str]:
    """The command with the trap in front, and the file its state will be in.

    ``bash`` is where it is, for a PATH that was changed need not lead there. ``removed`` are variables of the place
    that it is not to see.
    """
    file = f"/run/hermes.{uuid4().hex}"
    program, *words = trapped(argv, _TELL, f">{file}")
    gone = f"unset -v {' '.join(sorted(removed))}; " if removed else ""
    return (bash if program == "bash" and bash else program, words[0], f"{gone}{words[1]}"), file


def state_of(told: bytes) -> tuple[str, dict[str, str]] | None:
    """The folder, empty where it has no name that the daemon takes, and the variables; None when nothing was told."""
    folder, separator, rest = told.partition(b"\0")
    if not separator:
        return None
    here = folder.decode(errors="replace")
    return "" if "\ufffd" in here else here, _parsed(rest)


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
