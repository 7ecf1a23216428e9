"""Runs in the process of one call: shuts what was not declared, runs the tool, says what came of it.

Its text is given to ``python -I -c``. The wall is around this process, and a filter of system calls that it takes upon
itself. The audit hook tells what was tried, in words: the interpreter asks it before it opens, connects or starts
anything. It is a witness and a help; code that breaks out of the interpreter breaks out of it too. It calls nothing
that the tool could put something else in the place of.
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
    "pty", "_testcapi", "_testinternalcapi", "_xxsubinterpreters", "_interpreters", "hermes_core",
})  # fmt: skip
REFUSED = frozenset({
    "os.fork", "os.forkpty", "os.kill", "os.killpg", "signal.pthread_kill", "resource.setrlimit", "resource.prlimit",
    "sys.addaudithook", "cpython._PySys_ClearAuditHooks", "gc.get_objects", "gc.get_referrers", "gc.get_referents",
    "code.__new__", "sys._current_frames", "sys._current_exceptions", "sys.setprofile", "sys.settrace",
    "pickle.find_class", "socket.bind", "syslog.openlog", "webbrowser.open", "setopencodehook", "sys.remote_exec",
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


class Wanted(BaseException):
    """Ends a run: a call of another tool whose result is not known yet."""


def caller(job: Any, wanted: list[Any]) -> Any:
    """The function that calls other tools. What one came to stands in the job: the code runs again, from its start."""
    known, loads, dumps, failed, late = list(job["known"]), json.loads, json.dumps, ToolError, Wanted
    pop, append = list.pop, list.append

    def call_tool(name: str, arguments: Any) -> str:
        asked = loads(dumps([name, arguments]))
        if not known:
            append(wanted, asked)
            raise late
        made = pop(known, 0)
        if made["call"] != asked:
            raise RuntimeError(f"it called {made['call'][0]} first, and when it was run again {asked}")
        if made["failed"]:
            raise failed(made["text"])
        return str(made["text"])

    return call_tool


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


def refuser(job: Any, tried: list[str]) -> Any:
    """A function that refuses something in words, and keeps what was tried, whether the tool tells of it or not."""
    name, append, size = job["name"], list.append, len
    denied, code = PermissionError, errno.EACCES

    def no(what: str, kind: Any = None) -> None:
        if size(tried) < 20:
            append(tried, what[:300])
        if kind is not None:
            raise kind(f"{name} may not {what}")
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


def network(job: Any, no: Any) -> Any:  # noqa: C901 - small functions over the same few names
    """What looks at the hosts of an event. It looks up declared names itself, and keeps which numbers they have."""
    hosts = frozenset(job["hosts"])
    known: set[str] = set()
    kind, text, data, several, number = type, str, bytes, tuple, int
    lower, strip, decode = str.lower, str.rstrip, bytes.decode
    add, partition, extend = set.add, str.partition, list.extend
    look_up: Any = None
    is_open: Any = None
    door = (("127.0.0.1", number(partition(job["door"], "127.0.0.1:")[2])),) if job["door"] else ()
    if hosts and not door:
        import ipaddress
        import socket

        look_up, is_open = socket.getaddrinfo, ipaddress.ip_address
        socket.getaddrinfo = asked(sys.audit)
    literal = frozenset(h for h in hosts if h == "localhost" or ":" in h or not any(c.isalpha() for c in h))

    def named(value: Any) -> str:
        value = decode(value, "ascii", "replace") if kind(value) is data else value
        plain = strip(lower(value), ".") if kind(value) is text else ""
        return plain if plain in hosts else ""

    def lookup(event: str, args: Any) -> None:
        value = args[0][0] if event == "socket.getnameinfo" else args[0]
        if not named(value) and not (door and event == "socket.getaddrinfo" and args[:2] == door[0]):
            no(f"reach the host {value}")

    def answer(_event: str, args: Any) -> None:
        rows, host, rest = args
        if not named(host):
            no(f"reach the host {host}")
        for row in look_up(host, *rest):
            number = row[4][0]
            if named(host) in literal or is_open(partition(number, "%")[0]).is_global:
                add(known, number)
                extend(rows, [row])
        if not rows:
            no(f"reach {host}: it is in your own network, and was not declared by number")

    def connect(event: str, args: Any) -> None:
        address = args[1]
        if address is None and event == "socket.sendmsg":  # it is connected already
            return
        if door:
            if address != door[0]:
                no(f"connect to {address} by itself; urllib.request and what heeds HTTPS_PROXY know the way out")
            return
        if kind(address) is not several or not (named(address[0]) in literal or address[0] in known):
            no(f"connect to {address[0] if kind(address) is several else address}")

    def made(_event: str, _args: Any) -> None:
        if not hosts:
            no("use the network")

    return lookup, answer, connect, made


def asked(audit: Any) -> Any:
    """What stands for ``socket.getaddrinfo``: it has the hook look the name up, so that the hook knows the numbers."""

    def getaddrinfo(host: Any, port: Any, family: int = 0, type: int = 0, proto: int = 0, flags: int = 0) -> Any:  # noqa: A002
        rows: list[Any] = []
        audit("hermes.lookup", rows, host, (port, family, type, proto, flags))
        return rows

    return getaddrinfo


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


def judging(job: Any) -> Any:
    """The function that says of an event what to raise, as a class and its words; or nothing."""
    tried: list[str] = []
    no = refuser(job, tried)
    never = NEVER - ({"_posixsubprocess"} if job["programs"] else set())
    partition, begins, get, extend = str.partition, str.startswith, dict.get, list.extend
    no_module, denied, any_error, code = ImportError, PermissionError, BaseException, errno.EACCES

    def imported(_event: str, args: Any) -> None:
        if partition(args[0], ".")[0] in never:
            no("import " + args[0][:100], no_module)

    def refused(event: str, _args: Any) -> None:
        no("use " + event)

    def told(_event: str, args: Any) -> None:
        extend(args[0], tried)

    opened, listed, changed = files(job, no)
    lookup, answer, connect, made = network(job, no)
    looks: dict[str, Any] = dict.fromkeys(REFUSED, refused)
    looks.update(dict.fromkeys(READS, listed), **dict.fromkeys(WRITES, changed), **dict.fromkeys(LOOKUPS, lookup))
    looks.update(dict.fromkeys(STARTS, programs(job, no)))
    looks.update(dict.fromkeys(("socket.connect", "socket.sendto", "socket.sendmsg"), connect))
    looks.update({"open": opened, "import": imported, "socket.__new__": made, "hermes.lookup": answer})
    looks["hermes.refused"] = told

    def judge(event: str, args: Any) -> Any:
        try:
            look = get(looks, event)
            if look is not None:
                look(event, args)
            elif begins(event, "ctypes."):
                no("use " + event)
            elif event == "object.__setattr__" and args[1] in ("__code__", "__globals__"):
                no("change the code of a function")
        except no_module as error:
            return no_module, error.args
        except denied as error:
            return denied, error.args
        except any_error as error:  # a gate that cannot decide says no
            return denied, (code, f"{event} could not be judged: {error}")
        return None

    return judge


def seal(program: str) -> None:
    """Give up programs, processes and sockets for good, by a filter of system calls. Raises OSError."""
    import base64
    import ctypes

    code = base64.b64decode(program)

    class Filter(ctypes.Structure):
        _fields_ = (("size", ctypes.c_ushort), ("code", ctypes.c_char_p))

    call, whole, nothing = ctypes.CDLL(None).prctl, Filter(len(code) // 8, code), ctypes.c_ulong(0)
    if call(38, ctypes.c_ulong(1), nothing, nothing, nothing) or call(22, ctypes.c_ulong(2), ctypes.byref(whole)):
        raise OSError("the process could not be sealed")
    for name in [name for name in sys.modules if name.partition(".")[0] in NEVER]:
        del sys.modules[name]  # importing them anew is asked about


def guard(job: Any) -> None:
    """Install the hook.

    An error shows the frames it came through, and frames show what they hold. So what judges is nowhere in them: it is
    held by the hook's defaults, returns what is to be raised, and is let go of before that is raised.
    """

    judge = judging(job)

    def hook(
        event: str, args: Any, judge: Any = judge, every: Any = BaseException, denied: Any = PermissionError
    ) -> None:
        kind: Any = denied
        words: Any = (13, "this could not be judged")
        try:
            kind, words = judge(event, args) or (None, ())
        except every:
            pass
        finally:
            del judge
        if kind is not None:
            raise kind(*words)

    sys.addaudithook(hook)


def where(error: BaseException) -> int:
    """The line of the tool in which an error came up."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "tool.py":
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def play(job: Any) -> dict[str, Any]:
    """The frame that is said: a call that is wanted, a result, an orderly error, or a crash with its line."""
    wanted: list[Any] = []
    scope: dict[str, Any] = {"__name__": "tool", "ToolError": ToolError}
    if job["calls"]:
        scope["call_tool"] = caller(job, wanted)
    frame = result(job, scope)
    return {"wants": wanted[0]} if wanted else frame


def result(job: Any, scope: dict[str, Any]) -> dict[str, Any]:
    """What it came to, where no other call is wanted."""
    dumps, error_class = json.dumps, ToolError
    try:
        if job["seal"]:
            seal(job["seal"])
        guard(job)
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
    refused: list[str] = []
    audit, write, dumps, leave, flush = sys.audit, os.write, json.dumps, os._exit, (sys.stdout.flush, sys.stderr.flush)
    frame = play(job)
    audit("hermes.refused", refused)
    frame["refused"] = refused
    left = dumps(frame).encode()
    while left:
        left = left[write(3, left) :]
    for one in flush:
        with contextlib.suppress(Exception):
            one()
    leave(0)


main()
