"""Files that are whole or not there."""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path


def write_whole(path: "Path | str", text: str) -> None:
    """Replace a file in one step, readable by its owner only, so that a reader never sees half of it.

    Raises OSError; then the old file stands.
    """
    target = os.fspath(path)
    os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)  # noqa: PTH103, PTH120 - pathlib costs start-up
    temporary = f"{target}.{os.getpid()}.tmp"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)  # noqa: PTH105
    except OSError:
        if os.path.exists(temporary):  # noqa: PTH110
            os.unlink(temporary)  # noqa: PTH108
        raise
