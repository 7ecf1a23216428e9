"""Arguments for bwrap, with the descriptors that they name."""

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from hermes_backend_wall.interpreter import python
from hermes_backend_wall.system import ETC, MACHINE, STORES, SYSTEM
from hermes_core.errors import UserError
from hermes_core.values import frozen

__all__ = ["Bind", "Words", "outermost"]


@frozen
class Bind:
    """A file or folder of this machine at the same path inside."""

    path: str
    source: str
    writable: bool


class Words:
    """Collects them; close it once bwrap has started. ``places`` are the paths that are shown."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.fds: list[int] = []
        self.places: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for fd in self.fds:
            os.close(fd)

    def add(self, *words: str) -> None:
        """More of them."""
        self.words += words

    def file(self, data: bytes, path: str) -> None:
        """A small file of our own, only to be read."""
        self.words += ["--perms", "0644", "--ro-bind-data", str(self.memory("file", data)), path]

    def memory(self, name: str, data: bytes) -> int:
        """A descriptor that gives these bytes."""
        fd = os.memfd_create(f"hermes-{name}")
        self.fds.append(fd)
        os.write(fd, data)
        os.lseek(fd, 0, os.SEEK_SET)
        return fd

    def namespaces(self, hostname: str, *, network: bool = False) -> None:
        """Namespaces of its own for everything, but with ``network`` for that; and no rights."""
        self.add("--unshare-user", "--disable-userns", "--unshare-pid", "--unshare-ipc", "--unshare-uts")
        self.add("--unshare-cgroup-try", "--hostname", hostname, "--cap-drop", "ALL")
        if not network:
            self.add("--unshare-net")
        self.add("--die-with-parent", "--new-session", "--as-pid-1", "--clearenv")

    def system(self) -> None:
        """What programs are made of, only to be read."""
        self.add("--ro-bind", "/usr", "/usr")
        self.places.append("/usr")
        for path in SYSTEM:
            if os.path.islink(path):  # noqa: PTH114
                self.add("--symlink", os.readlink(path), path)  # noqa: PTH115
            elif os.path.isdir(path):  # noqa: PTH112
                self.add("--ro-bind", path, path)
            self.places.append(path)
        if os.path.isdir("/usr/local/etc"):  # noqa: PTH112
            self.add("--tmpfs", "/usr/local/etc", "--remount-ro", "/usr/local/etc")
        for path in STORES:
            self.add("--ro-bind-try", path, path)
            self.places.append(path)

    def etc(self, home: str, hostname: str, *, network: bool = False) -> None:
        """What programs need to know; the people of the machine are one, whose home is ``home``."""
        for name in ETC:
            self.add("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
        name, user, group = Path(home).name or "user", os.getuid(), os.getgid()
        people = {0: f"root:x:0:0:root:{home if not user else '/'}:/bin/sh"}
        people[user] = f"{'root' if not user else name}:x:{user}:{group}::{home}:/bin/sh"
        people.setdefault(65534, "nobody:x:65534:65534:nobody:/:/usr/sbin/nologin")
        groups = {0: "root:x:0:", group: f"{'root' if not group else name}:x:{group}:"} | {65534: "nogroup:x:65534:"}
        self.file("".join(f"{line}\n" for line in people.values()).encode(), "/etc/passwd")
        self.file("".join(f"{line}\n" for line in groups.values()).encode(), "/etc/group")
        if network:
            for name in ("hosts", "resolv.conf"):  # often a link to where it changes
                self.add("--ro-bind-try", os.path.realpath(f"/etc/{name}"), f"/etc/{name}")
        else:
            self.file(f"127.0.0.1 localhost {hostname}\n::1 localhost\n".encode(), "/etc/hosts")

    def devices(self) -> None:
        """The usual few devices, and the processes inside; nothing of the machine's."""
        self.add("--dev", "/dev", "--proc", "/proc", "--dir", "/run")
        for path in MACHINE:
            if os.path.exists(path):  # noqa: PTH110
                self.add("--ro-bind", "/dev/null", path)
        # Without any rights in it, root still owns /proc/sys: writing core_pattern there would run a program outside.
        self.add("--remount-ro", "/proc")

    def everything(self, binds: Iterable[Bind]) -> None:
        """Show what is asked for and what the launcher needs. Raises UserError."""
        # Outer before inner, and what may only be read after what may be written at the same place.
        for bind in sorted((*_launcher(), *binds), key=lambda bind: (bind.path.count("/"), not bind.writable)):
            self.bind(bind)

    def hide(self, hidden: Iterable[str], shown: Iterable[Bind]) -> None:
        """Empty folders over those that lie in something that is shown; what is shown below them stays so."""
        roots = tuple(shown)
        for path in hidden:
            for root in roots:
                if path.startswith(f"{root.source}/") and os.path.isdir(path):  # noqa: PTH112
                    inside = root.path + path[len(root.source) :]
                    self.add("--perms", "0500", "--tmpfs", inside)
                    for bind in roots:
                        if bind.path.startswith(f"{inside}/"):
                            self.bind(bind)
                    self.add("--remount-ro", inside)

    def bind(self, bind: Bind) -> None:
        """Show a file or folder. Raises UserError when it cannot be."""
        try:
            # A link that somebody puts in the way between the look and the mount leads nowhere: the descriptor stays.
            fd = os.open(bind.source, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            raise UserError(f"{bind.path} cannot be shown in the sandbox: {error.strerror}.") from error
        self.fds.append(fd)
        # A descriptor of a link that took its place is one of the link, which a mount would follow.
        if os.readlink(f"/proc/self/fd/{fd}") != bind.source or stat.S_ISLNK(os.fstat(fd).st_mode):  # noqa: PTH115
            raise UserError(f"{bind.path} was replaced while the sandbox was made.", hint="Try again.")
        self.words += ["--bind" if bind.writable else "--ro-bind", f"/proc/self/fd/{fd}", bind.path]
        self.places.append(bind.path)


def _launcher() -> list[Bind]:
    """The Python that runs the launcher, and the launcher, where they are not part of the system."""
    here = Path(__file__).parent
    wanted = (python()[1], str(here / "__init__.py"), str(here / "inside"))
    return [
        Bind(path, os.path.realpath(path), writable=False)
        for path in wanted
        if not path.startswith(("/usr/", *STORES)) and path != "/usr"
    ]


def outermost(paths: Iterable[str | Path]) -> list[str]:
    """Paths without links, and without those that lie in another."""
    real = {os.path.realpath(path) for path in paths}
    return sorted(path for path in real if not any(path.startswith(f"{other}/") for other in real))
