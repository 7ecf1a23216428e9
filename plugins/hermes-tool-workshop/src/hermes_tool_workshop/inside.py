"""Runs in the process of one call: shuts what was not declared, runs the tool, says what came of it.

Its text is given to ``python -I -c``. What shuts is an audit hook: the interpreter asks it before it opens, connects
or starts anything. It is a witness and a help. Code that breaks out of the interpreter breaks out of it too; the
wall is an isolated workspace. It calls nothing that the tool could put something else in the place of.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
from typing import Any

NEVER = frozenset({
    "ctypes", "_ctypes", "cffi", "_cffi_backend", "gc", "_posixsubprocess", "multiprocessing", "_multiprocessing",
    "pty",
    "_testcapi", "_testinternalcapi", "_xxsubinterpreters", "_interpreters", "hermes_core",
})  # fmt: skip
REFUSED = frozenset({
    "os.fork", "os.forkpty", "os.kill", "os.killpg", "signal.pthread_kill", "resource.setrlimit", "resource.prlimit",
    "sys.addaudithook", "cpython._PySys_ClearAuditHooks", "gc.get_objects", "gc.get_referrers", "gc.get_referents",
    "code.__new__", "sys._current_frames", "sys._current_exceptions", "sys.setprofile", "sys.settrace",
    "pickle.find_class",
    "socket.bind", "syslog.openlog", "webbrowser.open", "setopencodehook", "sys.remote_exec",
})  # fmt: skip
READS = frozenset({"os.listdir", "os.scandir", "os.chdir", "os.getxattr", "os.listxattr"})
# Which arguments of an event are paths, each with the argument that holds the folder it is relative to (-1: none).
WRITES = {
    "os.remove": ((0, 1),), "os.rmdir": ((0, 1),), "os.mkdir": ((0, 2),), "os.symlink": ((1, 2),),
    "os.rename": ((0, 2), (1, 3)), "os.link": ((0, 2), (1, 3)), "os.chmod": ((0, -1),), "os.chown": ((0, -1),),
    "os.truncate": ((0, -1),), "os.utime": ((0, -1),), "os.setxattr": ((0, -1),), "os.removexattr": ((0, -1),),
    "os.chflags": ((0, -1),), "sqlite3.connect": ((0, -1),),
}  # fmt: skip
LOOKUPS = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo"})
STARTS = frozenset({"subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.system"})
CHANGES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
KNOWN = ("/usr/share/zoneinfo", "/etc/localtime", "/etc/ssl", "/usr/lib/ssl", "/dev/null", "/dev/urandom")


class ToolError(Exception):
    """What a tool raises to say, in words, that it cannot do what it was asked."""


def resolver() -> Any:
    """A function that follows every link of a path, made of nothing that could be exchanged."""
    readlink, getcwd = os.readlink, os.getcwd
    split, join, starts, pop, error = str.split, str.join, str.startswith, list.pop, OSError

    def resolve(path: str, base: str = "") -> str:
        todo = split(path, "/")[::-1]
        done, links = ([] if starts(path, "/") else split(base or getcwd(), "/")[1:]), 0
        while todo:
            part = pop(todo)
            if part in ("", "."):
                continue
            if part == "..":
                done = done[:-1]
                continue
            here = "/" + join("/", [*done, part])
            try:
                to = readlink(here)
            except error:
                done = [*done, part]
                continue
            links += 1
            if links > 40:
                return ""
            done = [] if starts(to, "/") else done
            todo = [*todo, *split(to, "/")[::-1]]
        return "/" + join("/", [part for part in done if part])

    return resolve


def refuser(job: Any, refusals: list[str]) -> Any:
    """A function that refuses something in words, and keeps what was tried, whether the tool tells of it or not."""
    name, append, size = job["name"], list.append, len
    denied, code = PermissionError, errno.EACCES

    def no(what: str) -> None:
        if size(refusals) < 20:
            append(refusals, what[:300])
        raise denied(code, f"{name} may not {what}: it does not declare that")

    return no


def files(job: Any, no: Any) -> Any:  # noqa: C901 - four small functions over the same few names
    """What looks at the paths of an event: one function for what reads, opens or changes."""
    resolve, expand = resolver(), os.path.expanduser
    writes = (job["scratch"], *(resolve(expand(p)) for p in job["writes"]))
    reads = (*writes, *KNOWN, *(resolve(expand(p)) for p in (*job["reads"], *filter(None, sys.path))))
    places, changes = dict(WRITES), CHANGES
    kind, text, data, number = type, str, bytes, int
    begins, decode, readlink = str.startswith, bytes.decode, os.readlink

    def inside(path: str, roots: Any) -> bool:
        for root in roots:  # noqa: SIM110 - any() is a name that the tool could put something else behind
            if path == root or begins(path, root + "/"):
                return True
        return False

    def look(path: Any, roots: Any, verb: str, base: str = "") -> None:
        if kind(path) is number:  # what is open already was looked at when it was opened
            return
        path = "." if path is None else decode(path, "utf-8", "surrogateescape") if kind(path) is data else path
        if kind(path) is not text:
            no(f"use a {kind(path).__name__} as a path")
        whole = resolve(path, base)
        if not inside(whole, roots):
            no(f"{verb} {whole or path}")

    def opened(_event: str, args: Any) -> None:
        path, mode, flags = args
        writing = (kind(flags) is number and flags & changes) or (kind(mode) is text and mode[:1] in ("w", "a", "x"))
        look(path, writes if writing else reads, "change" if writing else "read")

    def listed(_event: str, args: Any) -> None:
        look(args[0], reads, "read")

    def changed(event: str, args: Any) -> None:
        for place, folder in places[event]:
            fd = args[folder] if folder >= 0 else -1
            base = readlink(f"/proc/self/fd/{fd}") if kind(fd) is number and fd >= 0 else ""
            if event != "sqlite3.connect" or args[place] != ":memory:":
                look(args[place], writes, "change", base)

    return opened, listed, changed


def network(job: Any, no: Any) -> Any:
    """What looks at the hosts of an event."""
    hosts = frozenset(job["hosts"])
    known = addresses(hosts) if hosts else frozenset()
    kind, text, data, several = type, str, bytes, tuple
    lower, strip, decode = str.lower, str.rstrip, bytes.decode

    def named(value: Any) -> bool:
        value = decode(value, "ascii", "replace") if kind(value) is data else value
        return kind(value) is text and strip(lower(value), ".") in hosts

    def lookup(event: str, args: Any) -> None:
        value = args[0][0] if event == "socket.getnameinfo" else args[0]
        if not named(value):
            no(f"reach the host {value}")

    def connect(event: str, args: Any) -> None:
        address = args[1]
        if address is None and event == "socket.sendmsg":  # it is connected already
            return
        if kind(address) is not several or not (named(address[0]) or address[0] in known):
            no(f"connect to {address[0] if kind(address) is several else address}")

    def made(_event: str, _args: Any) -> None:
        if not hosts:
            no("use the network")

    return lookup, connect, made


def programs(job: Any, no: Any) -> Any:
    """What looks at the program of an event."""
    declared = frozenset(job["programs"])
    kind, text, data, decode = type, str, bytes, bytes.decode

    def program(event: str, args: Any) -> None:
        given = decode(args[0], "utf-8", "replace") if kind(args[0]) is data else args[0]
        if event == "os.system" or given == "/bin/sh":
            given = "sh" if "sh" in declared else "/bin/sh"
        if kind(given) is not text or given not in declared:
            no(f"start {given}")

    return program


def guard(job: Any, refusals: list[str]) -> None:
    """Install the hook. A gate that cannot decide says no: an error in it, whatever it is, stops what was tried."""
    no, name = refuser(job, refusals), job["name"]
    never = NEVER - ({"_posixsubprocess"} if job["programs"] else set())
    partition, begins, get, append, no_module = str.partition, str.startswith, dict.get, list.append, ImportError

    def imported(_event: str, args: Any) -> None:
        if partition(args[0], ".")[0] in never:
            append(refusals, "import " + args[0][:100])
            raise no_module(f"{name} may not import {args[0]}")

    def refused(event: str, _args: Any) -> None:
        no("use " + event)

    def altered(_event: str, args: Any) -> None:
        if args[1] in ("__code__", "__globals__"):
            no("change the code of a function")

    opened, listed, changed = files(job, no)
    lookup, connect, made = network(job, no)
    program = programs(job, no)
    looks: dict[str, Any] = dict.fromkeys(REFUSED, refused)
    looks.update(dict.fromkeys(READS, listed), **dict.fromkeys(WRITES, changed), **dict.fromkeys(LOOKUPS, lookup))
    looks.update(dict.fromkeys(STARTS, program))
    looks.update(dict.fromkeys(("socket.connect", "socket.sendto", "socket.sendmsg"), connect))
    looks.update({"open": opened, "import": imported, "socket.__new__": made, "object.__setattr__": altered})

    def hook(event: str, args: Any) -> None:
        look = get(looks, event)
        if look is not None:
            look(event, args)
        elif begins(event, "ctypes."):
            no("use " + event)

    sys.addaudithook(hook)


def addresses(hosts: frozenset[str]) -> set[str]:
    """The numbers that declared names turned out to be; the set grows when the tool looks one up."""
    import ipaddress
    import socket

    found: set[str] = set()
    look_up: Any = socket.getaddrinfo
    literal = {host for host in hosts if host == "localhost" or not any(c.isalpha() for c in host) or ":" in host}

    def getaddrinfo(host: Any, *args: Any, **options: Any) -> Any:
        rows = look_up(host, *args, **options)
        kept = []
        for row in rows:
            place = str(row[4][0])
            if host in literal or ipaddress.ip_address(place.split("%", maxsplit=1)[0]).is_global:
                found.add(place)
                kept.append(row)
        if rows and not kept:
            raise PermissionError(errno.EACCES, f"{host} is a host of this network, which was not declared by number")
        return kept

    socket.getaddrinfo = getaddrinfo
    return found


def where(error: BaseException) -> int:
    """The line of the tool in which an error came up."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "tool.py":
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def play(job: Any, refusals: list[str]) -> dict[str, Any]:
    """The frame that is said: a result, an orderly error, or a crash with its line."""
    dumps, error_class = json.dumps, ToolError
    scope: dict[str, Any] = {"__name__": "tool", "ToolError": ToolError}
    try:
        guard(job, refusals)
        exec(compile(job["code"], "tool.py", "exec"), scope)  # noqa: S102 - this is what the process is for
        value = scope[job["entry"]](**job["arguments"])
        try:
            return {"result": json.loads(dumps(value, allow_nan=False))}
        except (TypeError, ValueError, RecursionError) as error:
            kind = type(value).__name__
            return {"crash": f"what it returned (a {kind}) is no JSON: {error}", "line": 0}
    except error_class as error:
        return {"error": str(error)[:4000], "line": where(error)}
    except SystemExit as error:
        return {"crash": f"it ended its process with sys.exit({error.code!r})", "line": where(error)}
    except MemoryError:
        return {"crash": "it used up its memory", "line": 0}
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is told
        return {"crash": f"{type(error).__name__}: {error}"[:4000], "line": where(error)}


def main() -> None:
    """Read the job, play it, say the frame, and end at once: no thread of the tool outlives its call."""
    job = json.loads(sys.stdin.buffer.read())
    null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(null, 0)
    if "tempfile" in job["code"] or "shutil" in job["code"]:
        import shutil

        shutil._use_fd_functions = False  # type: ignore[attr-defined]  # else folders are opened by a name that says nothing of where they are
    refusals: list[str] = []
    write, dumps, leave, flush = os.write, json.dumps, os._exit, (sys.stdout.flush, sys.stderr.flush)
    frame = play(job, refusals)
    frame["refused"] = refusals
    left = dumps(frame).encode()
    while left:
        left = left[write(3, left) :]
    for one in flush:
        with contextlib.suppress(Exception):
            one()
    leave(0)


main()
