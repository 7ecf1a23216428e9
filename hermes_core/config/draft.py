"""Several settings at once: all of them are written, or none."""

import copy
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

from hermes_core.config.files import explain, held, read_bytes, write_atomic
from hermes_core.config.paths import Home
from hermes_core.errors import UserError

__all__ = ["drafted"]


@contextmanager
def drafted(home: Home) -> Iterator[Home]:
    """The same home with a copy of ``config.yaml`` to change; the copy replaces the file when the block ends well.

    Raises UserError when the file cannot be read or written, or was changed by somebody else in the meantime. Then, and
    when the block raises, nothing is changed.
    """
    home.create()
    before, draft = read_bytes(home.config_file), copy.copy(home)
    try:
        folder = Path(mkdtemp(prefix=".draft-", dir=home.root))
    except OSError as error:
        raise explain(error, "write", home.config_file) from error
    draft.config_file = folder / home.config_file.name
    try:
        if before is not None:
            draft.config_file.write_bytes(before)
        yield draft
        after = read_bytes(draft.config_file)
        if after is None or after == before:
            return
        with held(home.root):
            if read_bytes(home.config_file) != before:
                raise UserError(f"{home.config_file} was changed meanwhile; nothing was written.", hint="Run it again.")
            mode = 0o600 if before is None else stat.S_IMODE(home.config_file.stat().st_mode)
            write_atomic(home.config_file, after, mode=mode)
    except OSError as error:
        raise explain(error, "write", home.config_file) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
