"""What commands of one workspace may reach: the same for every wall."""

from collections.abc import Sequence

from hermes_core.types import Folder
from hermes_core.values import frozen

__all__ = ["Bounds"]


@frozen(kw_only=True)
class Bounds:
    """``folder`` is the workspace as it was named, ``source`` the same without links. Both, ``home`` and ``scratch``
    may be changed; ``home`` is the commands' own home folder, ``scratch`` their own ``/tmp``.

    ``readable`` and ``writable`` are more paths; ``hidden`` is what must not be seen where it lies in one of these, and
    ``fixed`` what must not be changed. ``person`` is the person's own home. All are absolute and without links.
    ``also`` are folders of others, which nothing but themselves may be by the time that they are shown.
    ``shared_memory`` lets them have ``/dev/shm``, where semaphores of Python's multiprocessing lie, behind Landlock.
    """

    folder: str
    source: str
    home: str
    scratch: str
    person: str
    readable: Sequence[str] = ()
    writable: Sequence[str] = ()
    hidden: Sequence[str] = ()
    fixed: Sequence[str] = ()
    also: Sequence[Folder] = ()
    shared_memory: bool = True
