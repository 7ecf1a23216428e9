"""Tries the wall around the commands of a place by what they must not be able to do, and says what it let through."""

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any
from uuid import uuid4

from hermes_backend_kit.canaries import canaries
from hermes_backend_kit.probes import PROBES, SHELL, Probe
from hermes_backend_kit.walls import says
from hermes_core.errors import ToolError, UserError
from hermes_core.kinds import Backend, Workspace
from hermes_core.types import ExecRequest, Feature, Wall
from hermes_core.values import frozen

__all__ = ["Proof", "proved", "says", "tried"]

SECONDS = 300.0  # for all of them; each has ten
# Where a place has a system of its own, what probes do to its system is nobody else's; a number that belongs to another
# process over there is no way to ours.
_PYTHON = """
import ctypes, errno, fcntl, json, os, signal, socket, struct, subprocess, sys
at, rows = json.load(sys.stdin)
libc = ctypes.CDLL(None, use_errno=True)
x86 = os.uname().machine == "x86_64"
at["tool"] = os.path.realpath(sys.executable)
def passed(): print("\\n" + at["token"], number, flush=True)
def call(x, a, *words):
    if libc.syscall(x if x86 else a, *words) >= 0: passed()
def connect(family, address, kind=socket.SOCK_STREAM, protocol=0):
    s = socket.socket(family, kind, protocol); s.settimeout(3); s.connect(address); passed()
def line(pid):
    with open(f"/proc/{pid}/cmdline", errors="replace") as file: return file.read().replace("\\0", "")
def own(kind):
    try: return os.readlink("/proc/self/ns/" + kind) != at["spaces"][kind]
    except OSError: return False
own_net, own_pids = own("net"), own("pid")
try: own_system = "{0.st_dev}:{0.st_ino}".format(os.stat("/usr")) != at["usr"]
except OSError: own_system = True
for name, known in zip(("pid", "victim"), at["lines"]):
    try:
        if known and line(at[name]) != known: at[name] = 1 << 22
    except OSError: pass
for number, (code, system) in enumerate(rows):
    child = os.fork()
    if not child:
        try:
            signal.alarm(10)
            if not (system and own_system): exec(code)
        except (OSError, ValueError, AttributeError, ImportError): pass
        except BaseException: passed()
        os._exit(0)
    os.waitpid(child, 0)
print("\\n" + at["token"], "done", flush=True)
"""
_SH = """
[ "$(readlink /proc/self/ns/net)" = "$net" ] && own_net= || own_net=yes
[ "$(stat -c %d:%i /usr 2>/dev/null)" = "$usr" ] && own_system= || own_system=yes
same() { [ -z "$2" ] || [ ! -r "/proc/$1/cmdline" ] || [ "$(tr -d '\\0' <"/proc/$1/cmdline")" = "$2" ]; }
same $pid "$line" || pid=4194304
same $victim "$other" || victim=4194304
try() {
  [ "$3$own_system" != systemyes ] || return 0
  if ( eval "$2" ) </dev/null >/dev/null 2>&1; then echo "$token $1"; fi
}
"""


@frozen(kw_only=True)
class Proof:
    """What was tried, and what the wall let through although it does not say so, by the texts of the probes."""

    wall: Wall
    tried: Sequence[str]
    through: Sequence[str]


async def tried(place: Workspace, hermes: str | Path = "", probes: Sequence[Probe] = PROBES) -> Proof:
    """Run probes in a place. ``hermes`` is the home of Hermes, which must not be seen there.

    Raises UserError where nothing bounds commands: what probes try, they would do there. Raises ToolError.
    """
    if place.wall.name == "none":
        raise UserError(f"There is no wall to try. Missing: {'; '.join(place.wall.missing)}.")
    token, program = uuid4().hex, await _python(place)
    if Feature.LOCAL not in place.features:  # its files run nothing here
        probes = [probe for probe in probes if not probe.file]
    if not program:
        probes = [probe for probe in probes if probe.text in SHELL]
    # A repository is protected that was there when the place was opened: see ``proved``.
    probes = [one for one in probes if not one.file.startswith(".git/") or await _text(place, one.file) == one.before]
    for probe in probes:
        if probe.before and await _text(place, probe.file) != probe.before:
            await place.write(os.path.join(place.cwd, probe.file), probe.before.encode())  # noqa: PTH118 - over there
    with canaries(hermes) as found:
        told = {**found, "token": token}
        request = _by_python(program, told, probes) if program else _by_shell(told, probes)
        output = (await place.run(request)).output.decode(errors="replace")
    said = {line.removeprefix(f"{token} ") for line in output.splitlines() if line.startswith(f"{token} ")}
    if "done" not in said:
        raise ToolError(f"The wall could not be tried: {output.strip()[-300:] or 'nothing was said'}")
    through = [one.text for number, one in enumerate(probes) if str(number) in said]
    through += [one.text for one in probes if one.file and await _text(place, one.file) != one.before]
    excused = {one.text for one in probes if {*one.lacks} & {*place.wall.missing}}
    return Proof(
        wall=place.wall,
        tried=[one.text for one in probes],
        through=[text for text in through if text not in excused],
    )


async def _text(place: Workspace, file: str) -> str:
    try:
        return (await place.read(os.path.join(place.cwd, file))).decode(errors="replace")  # noqa: PTH118
    except ToolError:
        return ""


async def _python(place: Workspace) -> str:
    """A Python of the place, the one of Hermes before others; empty where it has none."""
    for name in (f"{os.path.realpath(sys.base_prefix)}/bin/python3", "python3", "python"):
        argv = (name, "-I", "-S", "-c", "import ctypes, json, socket, subprocess; print(1)")
        try:
            result = await place.run(ExecRequest(argv=argv, seconds=30.0))
        except ToolError:
            continue
        if (result.status, result.output.strip()) == (0, b"1"):
            return name
    return ""


def _by_python(program: str, told: Mapping[str, Any], probes: Sequence[Probe]) -> ExecRequest:
    rows = json.dumps([told, [(probe.code, probe.system) for probe in probes]])
    return ExecRequest(argv=(program, "-I", "-S", "-c", _PYTHON), stdin=rows.encode(), seconds=SECONDS)


def _by_shell(told: Mapping[str, Any], probes: Sequence[Probe]) -> ExecRequest:
    names = ("outside", "person", "hermes", "pid", "victim", "usr", "token")
    known = {name: told[name] for name in names}
    known |= {"net": told["spaces"]["net"], "line": told["lines"][0], "other": told["lines"][1]}
    script = "".join(f"{name}={quote(str(value))}\n" for name, value in known.items()) + _SH
    for number, probe in enumerate(probes):
        script += f"try {number} {quote(SHELL[probe.text])} {'system' if probe.system else quote('')}\n"
    return ExecRequest(argv=("sh", "-c", f'{script}echo "$token done"\n'), seconds=SECONDS)


async def _close(place: Workspace) -> None:
    await place.close()


async def proved(
    backend: Backend,
    hermes: str | Path = "",
    probes: Sequence[Probe] = PROBES,
    close: Callable[[Workspace], Awaitable[None]] = _close,
) -> Proof:
    """Try the wall of a backend in an empty folder. ``close`` ends the place, with all that was made for it.

    Raises as ``tried`` and ``Backend.open`` do.
    """
    folder = tempfile.mkdtemp(prefix="hermes-probe-")
    try:
        for probe in probes:
            if probe.before:
                Path(folder, probe.file).parent.mkdir(exist_ok=True)
                Path(folder, probe.file).write_text(probe.before)
        place = await backend.open(folder)
        try:
            return await tried(place, hermes, probes)
        finally:
            await close(place)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
