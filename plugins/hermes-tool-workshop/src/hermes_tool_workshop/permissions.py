"""What a tool may reach: declared by the model, read by a person, held where the tool runs."""

import ipaddress
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from attrs import asdict

from hermes_core.values import frozen

_MOST = 20  # entries of one kind; nobody reads more
_HOST = re.compile(r"(?!-)[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})*")
_PROGRAM = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
_TOOL = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PACKAGE = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_SECRET = (
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".netrc",
    ".config/gcloud",
    ".config/gh",
    ".password-store",
)
_SYSTEM = ("/", "/proc", "/sys", "/dev", "/boot", "/root", "/home", "/etc", "/var", "/run", "/usr")


@frozen(kw_only=True)
class Permissions:
    """Hosts, programs, paths it reads, paths it changes, packages outside of the standard library, tools it calls."""

    hosts: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()

    def words(self) -> list[str]:
        """What it may do, a line each, as a person reads it."""
        lines = [f"connect to {', '.join(self.hosts)}"] if self.hosts else []
        if self.programs:
            lines.append(f"start {', '.join(self.programs)}, which may do whatever a command can")
        if self.reads:
            lines.append(f"read {', '.join(map(_place, self.reads))}")
        if self.writes:
            lines.append(f"read and change {', '.join(map(_place, self.writes))}")
        if self.packages:
            lines.append(f"use the installed packages {', '.join(self.packages)}")
        if self.calls:
            lines.append(f"call {', '.join(self.calls)}, each call judged on its own")
        return lines or ["compute, and nothing else: no files, no network, no programs"]

    def problems(self, home: Path) -> Iterator[str]:
        """What is wrong with them, a sentence each. ``home`` is the folder of Hermes, which none may reach."""
        for name, given in asdict(self).items():
            if len(given) > _MOST:
                yield f"{name}: {len(given)} entries; {_MOST} is the most"
        yield from self._of_calls()
        yield from (
            f"hosts: {host[:80]!r} is not the name or number of one host" for host in self.hosts if not _host(host)
        )
        for name in self.programs:
            if not _PROGRAM.fullmatch(name):
                yield f"programs: {name[:80]!r} is not the name of a program; write it without a folder or arguments"
        for name in self.packages:
            if not _PACKAGE.fullmatch(name):
                yield f"packages: {name[:80]!r} is not the name of an importable package"
        for field in ("reads", "writes"):
            for path in getattr(self, field):
                if reason := forbidden(path, home):
                    yield f"{field}: {path[:200]!r} {reason}"

    def _of_calls(self) -> Iterator[str]:
        if self.calls and (self.hosts or self.programs or self.writes):
            yield "calls: what calls tools is run again from its start after each, so no hosts, programs or writes"
        odd = (name for name in self.calls if not _TOOL.fullmatch(name))
        yield from (f"calls: {name[:80]!r} is not the name of a tool" for name in odd)


def _host(name: str) -> bool:
    try:
        return bool(ipaddress.ip_address(name))
    except ValueError:
        return len(name) <= 253 and bool(_HOST.fullmatch(name))


def _place(path: str) -> str:
    return "the working folder" if path in (".", "./") else path


def forbidden(path: str, home: Path) -> str:
    """Why a tool may never declare a path, or an empty string."""
    if not path or len(path) > 1000 or not path.isprintable() or any(c in path for c in "*?["):
        return "is not one plain path; a folder stands for all that is in it"
    if ".." in path.split("/"):
        return "leads up; write where it leads to"
    if not path.startswith(("/", "~")):
        return ""
    if path.startswith("~") and not (path == "~" or path.startswith("~/")):
        return "names somebody else's home"
    person = os.path.expanduser("~")  # noqa: PTH111 - text all the way; it need not be a path of this machine
    whole = os.path.normpath(os.path.join("/", os.path.expanduser(path)))  # noqa: PTH111, PTH118
    real = os.path.realpath(whole)
    if {whole, real} & {*_SYSTEM, person, os.path.realpath(person)}:
        return "is too much: name the folder or file it is about"
    closed = [os.fspath(home), *(f"{person}/{name}" for name in _SECRET), "/proc", "/sys", "/dev", "/etc/shadow"]
    for one in closed:
        for place in {one, os.path.realpath(one)}:
            if any(_within(path, place) or _within(place, path) for path in (whole, real)):
                return "reaches what guards Hermes or holds secrets"
    return ""


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip('/')}/")


def tidy(values: Sequence[str]) -> tuple[str, ...]:
    """Each once, without blanks around it, in order of the alphabet."""
    return tuple(sorted({value.strip() for value in values}))
