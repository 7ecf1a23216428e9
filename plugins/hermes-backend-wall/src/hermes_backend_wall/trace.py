"""The file in memory that a bash command leaves its folder and its exported variables in.

It cannot grow: what comes from inside is never trusted to be small.
"""

import fcntl
import os
from collections.abc import Sequence

from hermes_backend_kit.shell import TELL, trapped

# A command may use low descriptors itself (exec 3>file), so the trap's one is far away from those.
DESCRIPTOR = 100
ROOM = 1 << 20
END = b"="  # after it the state is whole
USUAL = 1 << 16


class Trace:
    """What one command leaves."""

    def __init__(self) -> None:
        self.descriptor = os.memfd_create("hermes-shell", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.truncate(self.descriptor, ROOM)
        fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)

    @staticmethod
    def wrap(argv: Sequence[str]) -> list[str]:
        """The command with the trap that writes it."""
        return trapped(argv, f'{TELL}; builtin printf "\\0="', f">&{DESCRIPTOR}")

    def read(self) -> tuple[str, bytes] | None:
        """Folder and declarations of variables at the end, or None when the command left none."""
        data = os.pread(self.descriptor, USUAL, 0)
        if data[-1:] != b"\0":
            data = os.pread(self.descriptor, ROOM, 0)
        folder, declared, rest = [*data.split(b"\0", 2), b"", b""][:3]
        if not folder.startswith(b"/") or not rest.startswith(END):
            return None
        return os.fsdecode(folder), declared

    def close(self) -> None:
        """Forget it."""
        os.close(self.descriptor)
