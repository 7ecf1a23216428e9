"""What is visible inside the sandbox, as arguments for bwrap.

Everything is named; nothing is taken away from a whole. What is not listed here does not exist inside.
"""

import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from hermes_backend_bubblewrap.config import Config
from hermes_core.errors import UserError
from hermes_core.values import frozen

SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
STORES = ("/nix/store", "/gnu/store")  # where other systems keep what /usr holds elsewhere
# Of /etc only what programs need and everybody may know. Keys, passwords and the people's names stay outside.
ETC = (
    *("alternatives", "ca-certificates", "ca-certificates.conf", "crypto-policies", "fonts", "java-11-openjdk"),
    *("java-17-openjdk", "java-21-openjdk", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "locale.alias", "locale.conf"),
    *("localtime", "mime.types", "nsswitch.conf", "os-release", "pki/ca-trust", "pki/tls/certs", "protocols"),
    *("services", "ssl/certs", "ssl/openssl.cnf", "terminfo", "timezone"),
)
# What /proc tells root about the whole machine.
MACHINE = tuple(
    f"/proc/{name}"
    for name in (
        *("kcore", "keys", "kpagecgroup", "kpagecount", "kpageflags", "latency_stats", "sched_debug", "slabinfo"),
        *("sysrq-trigger", "timer_list", "vmallocinfo", "vmcore"),
    )
)
HOSTNAME = "sandbox"
# A folder that holds one of these is not one project: the person's keys and programs would be in it.
WHOLE = (
    *("/", "/home", "/root", "/etc", "/usr", "/var", "/tmp", "/opt", "/srv", "/mnt", "/media", "/run", "/dev"),  # noqa: S108
    *("/proc", "/sys", "/boot", *SYSTEM),
)


@frozen
class Bind:
    """A file or folder of this machine at the same path inside."""

    path: str
    source: str
    writable: bool


class View:
    """Arguments for bwrap, with the descriptors they name; close it once bwrap has started."""

    def __init__(self, folder: str, source: str, config: Config, hidden: Iterable[Path]) -> None:
        """``folder`` is the session's folder as it was named, ``source`` the same without links."""
        self.folder = folder
        self._source = source
        self._config = config
        real = {os.path.realpath(path) for path in hidden}
        self._hidden = sorted(path for path in real if not any(path.startswith(f"{other}/") for other in real))
        self.home = os.path.normpath(os.path.expanduser("~"))  # noqa: PTH111 - a path inside
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

    def build(self) -> None:
        """Collect everything. Raises UserError for what is configured and not there."""
        self._namespaces()
        self._system()
        self._scratch()
        binds = [*self._interpreter(), *listed(self._config), Bind(self.folder, self._source, writable=True)]
        # Outer before inner, and what may only be read after what may be written at the same place.
        for bind in sorted(binds, key=lambda bind: (bind.path.count("/"), not bind.writable)):
            self._bind(bind)
        self._git()
        self._hide([bind.source for bind in binds])
        self.words += ["--remount-ro", "/dev", "--remount-ro", "/"]

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

    def _namespaces(self) -> None:
        self.words += ["--unshare-user", "--disable-userns", "--unshare-pid", "--unshare-ipc", "--unshare-uts"]
        self.words += ["--unshare-cgroup-try", "--hostname", HOSTNAME, "--cap-drop", "ALL"]
        self.words += [] if self._config.network else ["--unshare-net"]
        self.words += ["--die-with-parent", "--new-session", "--as-pid-1", "--clearenv"]

    def _system(self) -> None:
        self.words += ["--ro-bind", "/usr", "/usr"]
        self.places.append("/usr")
        for path in SYSTEM:
            if os.path.islink(path):  # noqa: PTH114
                self.words += ["--symlink", os.readlink(path), path]  # noqa: PTH115
            elif os.path.isdir(path):  # noqa: PTH112
                self.words += ["--ro-bind", path, path]
            self.places.append(path)
        if os.path.isdir("/usr/local/etc"):  # noqa: PTH112
            self.words += ["--tmpfs", "/usr/local/etc", "--remount-ro", "/usr/local/etc"]
        for path in STORES:
            self.words += ["--ro-bind-try", path, path]
            self.places.append(path)
        for name in ETC:
            self.words += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
        name, user, group = Path(self.home).name or "user", os.getuid(), os.getgid()
        people = {0: f"root:x:0:0:root:{self.home if not user else '/'}:/bin/sh"}
        people[user] = f"{'root' if not user else name}:x:{user}:{group}::{self.home}:/bin/sh"
        people.setdefault(65534, "nobody:x:65534:65534:nobody:/:/usr/sbin/nologin")
        groups = {0: "root:x:0:", group: f"{'root' if not group else name}:x:{group}:"} | {65534: "nogroup:x:65534:"}
        self.file("".join(f"{line}\n" for line in people.values()).encode(), "/etc/passwd")
        self.file("".join(f"{line}\n" for line in groups.values()).encode(), "/etc/group")
        if self._config.network:
            for name in ("hosts", "resolv.conf"):  # often a link to where it changes
                self.words += ["--ro-bind-try", os.path.realpath(f"/etc/{name}"), f"/etc/{name}"]
        else:
            self.file(f"127.0.0.1 localhost {HOSTNAME}\n::1 localhost\n".encode(), "/etc/hosts")
        self.words += ["--dev", "/dev", "--proc", "/proc", "--dir", "/run"]
        for path in MACHINE:
            if os.path.exists(path):  # noqa: PTH110
                self.words += ["--ro-bind", "/dev/null", path]
        # Without any rights in it, root still owns /proc/sys: writing core_pattern there would run a program outside.
        self.words += ["--remount-ro", "/proc"]

    def _scratch(self) -> None:
        size = ["--size", str(self._config.tmp_mb << 20)]
        for path, mode in (("/dev/shm", "1777"), ("/tmp", "1777"), ("/var/tmp", "1777"), (self.home, "0700")):  # noqa: S108
            if path != "/":
                self.words += ["--perms", mode, *size, "--tmpfs", path]

    def _interpreter(self) -> list[Bind]:
        """The Python that runs the launcher, and the launcher, where they are not part of the system."""
        wanted = (python()[1], str(Path(__file__).with_name("launcher.py")))
        return [
            Bind(path, os.path.realpath(path), writable=False)
            for path in wanted
            if not path.startswith(("/usr/", *STORES)) and path != "/usr"
        ]

    def _bind(self, bind: Bind) -> None:
        try:
            # A link that somebody puts in the way between the look and the mount leads nowhere: the descriptor stays.
            fd = os.open(bind.source, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as error:
            raise UserError(f"{bind.path} cannot be shown in the sandbox: {error.strerror}.") from error
        self.fds.append(fd)
        if os.readlink(f"/proc/self/fd/{fd}") != bind.source:  # noqa: PTH115
            raise UserError(f"{bind.path} was replaced while the sandbox was made.", hint="Try again.")
        self.words += ["--bind" if bind.writable else "--ro-bind", f"/proc/self/fd/{fd}", bind.path]
        self.places.append(bind.path)

    def _git(self) -> None:
        """Keep hooks and settings of git, which the person's own git would run, from being written."""
        git, there = f"{self._source}/.git", f"{self.folder}/.git"
        if self._config.git == "writable" or os.path.islink(git) or not os.path.exists(git):  # noqa: PTH110, PTH114
            return
        whole = self._config.git == "read-only" or not os.path.isdir(git)  # noqa: PTH112 - a file names another folder
        # As a mount of its own it cannot be moved away and replaced either.
        self._bind(Bind(there, git, writable=not whole))
        if whole:
            return
        for path in guarded_in_git(Path(git)):
            self._bind(Bind(f"{there}/{path.relative_to(git)}", str(path), writable=False))

    def _hide(self, shown: Iterable[str]) -> None:
        """Empty folders over what belongs to Hermes itself, where it lies in something that is shown."""
        for path in self._hidden:
            for root in shown:
                if path.startswith(f"{root}/") and os.path.isdir(path):  # noqa: PTH112
                    inside = path if root != self._source else self.folder + path[len(root) :]
                    self.words += ["--perms", "0500", "--tmpfs", inside, "--remount-ro", inside]

    def environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """The variables commands begin with: a few of the person's, none that could be a secret."""
        kept = {name: environ[name] for name in ("LANG", "LANGUAGE", "TZ", "TERM", "COLORTERM") if name in environ}
        kept |= {name: value for name, value in environ.items() if name.startswith("LC_")}
        kept |= {name: environ[name] for name in self._config.env_passthrough if name in environ}
        name = Path(self.home).name or "user"
        shell = next((s for s in ("/bin/bash", "/usr/bin/bash") if os.path.exists(s)), "/bin/sh")  # noqa: PTH110
        kept |= {"HOME": self.home, "USER": name, "LOGNAME": name, "SHELL": shell}
        return kept | {"PATH": ":".join(self._path(environ.get("PATH", "")))}

    def _path(self, path: str) -> list[str]:
        """The person's own order of programs, as far as they are visible; then the usual places."""
        mine = [folder for folder in path.split(":") if any(_inside(folder, place) for place in self.places)]
        usual = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin", f"{python()[1]}/bin"]
        return list(dict.fromkeys([*mine, *usual]))


def listed(config: Config) -> list[Bind]:
    """What the user wants to be visible besides. Raises UserError for what is not there."""
    found = []
    for key in ("readable", "writable"):
        for text in getattr(config, key):
            path = os.path.normpath(os.path.expanduser(text))  # noqa: PTH111
            if not path.startswith("/") or path == "/":
                raise UserError(f"backends.bubblewrap.{key}: {text} cannot be shown inside.", hint="Name a folder.")
            if not os.path.exists(path):  # noqa: PTH110
                raise UserError(f"backends.bubblewrap.{key}: {text} does not exist.", hint="Make it, or remove it.")
            found.append(Bind(path, os.path.realpath(path), writable=key == "writable"))
    return found


def guarded_in_git(git: Path) -> list[Path]:
    """Hooks and settings of a repository and its submodules; real files and folders only."""
    repositories = [git]
    with suppress(OSError):
        repositories += [path.parent for path in sorted((git / "modules").rglob("config"))[:100] if path.is_file()]
    names = ("config", "config.worktree", "hooks")
    found = [repository / name for repository in repositories for name in names]
    return [path for path in found if path.exists() and os.path.realpath(path) == str(path)]


def python() -> tuple[str, str]:
    """The Python that Hermes runs on, and its folder, without any virtual environment; else the system's."""
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    prefix = os.path.realpath(sys.base_prefix)
    home = os.path.realpath(os.path.expanduser("~"))  # noqa: PTH111
    shown = not _inside(home, prefix.rstrip("/"))  # one installed right into the home would show all of it
    for name in (version, "python3"):
        program = f"{prefix}/bin/{name}"
        if shown and os.access(program, os.X_OK):
            return program, prefix
    return "/usr/bin/python3", "/usr"


def _inside(path: str, place: str) -> bool:
    return path == place or path.startswith(f"{place}/")
