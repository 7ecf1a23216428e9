"""What a command tries that the wall must not let through: data, and one runner.

Each probe is a piece of Python that prints ``PASSED`` when it got what it must not get, or changes a file of the
workspace that must be as before afterwards. The canaries that it reaches for are made first: files, sockets, memory and
a process of this machine, outside of the workspace.
"""

import json
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from attrs import evolve

from hermes_backend_wall.interpreter import python
from hermes_backend_wall.job import Job, asked
from hermes_backend_wall.plan import INSTALL, Plan
from hermes_backend_wall.sandbox import Sandbox
from hermes_backend_wall.walled import Walled
from hermes_core.environment import MARK
from hermes_core.errors import UserError
from hermes_core.types import Wall
from hermes_core.values import frozen

__all__ = ["PROBES", "Canaries", "Probe", "canaries", "refuted", "tried"]

_BEGIN = """
import ctypes, errno, fcntl, json, os, signal, socket, struct, subprocess, sys
at = json.loads(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
x86 = os.uname().machine == "x86_64"
def passed(): print("PASSED", flush=True)
def call(x, a, *words):
    if libc.syscall(x if x86 else a, *words) >= 0: passed()
def connect(family, address, kind=socket.SOCK_STREAM, protocol=0):
    s = socket.socket(family, kind, protocol); s.settimeout(3); s.connect(address); passed()
"""


@frozen
class Probe:
    """``text`` says what is tried, in the words of a finding; ``below`` is the Landlock version that refuses it.

    ``file`` is what it changes, or makes where ``before`` is empty.
    """

    text: str
    code: str
    below: int = 0
    file: str = ""
    before: str = ""


def _all(*rows: tuple[str, str] | tuple[str, str, int]) -> tuple[Probe, ...]:
    return tuple(Probe(*row) for row in rows)


_FILES = _all(
    ("writing a new file outside", "open(at['outside'] + '/new', 'w'); passed()"),
    ("changing a file outside", "open(at['outside'] + '/file', 'a').write('x'); passed()"),
    ("emptying a file outside", "os.truncate(at['outside'] + '/file', 0); passed()"),
    ("opening a file outside to empty it", "os.open(at['outside'] + '/file', os.O_RDWR | os.O_TRUNC); passed()"),
    ("removing a file outside", "os.unlink(at['outside'] + '/file'); passed()"),
    ("removing a folder outside", "os.rmdir(at['outside'] + '/empty'); passed()"),
    ("making a folder outside", "os.mkdir(at['outside'] + '/folder'); passed()"),
    ("renaming a file outside", "os.rename(at['outside'] + '/file', at['outside'] + '/other'); passed()"),
    ("moving a file out", "open('moved', 'w'); os.rename('moved', at['outside'] + '/moved'); passed()"),
    ("moving a file in", "os.rename(at['outside'] + '/file', 'taken'); passed()"),
    ("a hard link to a file outside", "os.link(at['outside'] + '/file', 'hard'); passed()"),
    ("a hard link outside", "open('inner', 'w'); os.link('inner', at['outside'] + '/hard'); passed()"),
    ("a symbolic link outside", "os.symlink('/etc', at['outside'] + '/link'); passed()"),
    ("writing through a symbolic link", "os.symlink(at['outside'] + '/file', 'l1'); open('l1', 'a'); passed()"),
    ("reading through a symbolic link", "os.symlink(at['outside'] + '/file', 'l2'); open('l2').read(); passed()"),
    ("writing through a link to a folder", "os.symlink(at['outside'], 'l3'); open('l3/x', 'w'); passed()"),
    ("writing by way of ..", "open(os.path.relpath(at['outside']) + '/up', 'w'); passed()"),
    ("changing a file's mode outside", "os.chmod(at['outside'] + '/file', 0o777); passed()"),
    ("changing a folder's mode outside", "os.chmod(at['outside'], 0o777); passed()"),
    (
        "changing a mode through a descriptor",
        "f = os.open(at['tool'], os.O_RDONLY); os.fchmod(f, 0o777); passed()",
    ),
    ("changing a file's owner outside", "os.chown(at['outside'] + '/file', os.getuid(), os.getgid()); passed()"),
    ("changing a file's times outside", "os.utime(at['outside'] + '/file', (1, 1)); passed()"),
    ("an attribute on a file outside", "os.setxattr(at['outside'] + '/file', 'user.x', b'1'); passed()"),
    (
        "flags of a file of the system",
        "f = os.open(at['tool'], os.O_RDONLY); fcntl.ioctl(f, 0x40086602, struct.pack('l', 0x40)); passed()",
    ),
    (
        "watching what goes on in a folder outside",
        "libc.inotify_add_watch(libc.inotify_init1(0), at['outside'].encode(), 0xFFF) >= 0 and passed()",
    ),
    (
        "watching by way of a link",
        "os.symlink(at['outside'], 'l5'); libc.inotify_add_watch(libc.inotify_init1(0), b'l5', 4095) >= 0 and passed()",
    ),
    (
        "watching the home",
        "libc.inotify_add_watch(libc.inotify_init1(0), (at['person'] + '/.ssh').encode(), 0xFFF) >= 0 and passed()",
    ),
    ("watching all that goes on", "call(300, 262, 0, 0)"),
    ("a device file", "os.mknod('disk', 0o60600, os.makedev(8, 0)); passed()"),
    ("reading a key in the home", "print(open(at['person'] + '/.ssh/id_probe').read()); passed()"),
    ("listing the home", "'.ssh' in os.listdir(at['person']) and '.bash_history' and passed()"),
    ("writing into the home", "open(at['person'] + '/.ssh/config_probe', 'w'); passed()"),
    ("writing a shell's start-up file", "open(at['person'] + '/.bashrc_probe_dir/x', 'w'); passed()"),
    ("reading Hermes' own folder", "os.listdir(at['hermes']); passed()"),
    ("reading the passwords of the system", "open('/etc/shadow').read(); passed()"),
    ("reading keys of the system", "os.listdir('/etc/ssl/private'); passed()"),
    ("writing into /etc", "open('/etc/hermes-probe', 'w'); passed()"),
    ("writing into /usr", "open('/usr/hermes-probe', 'w'); passed()"),
    ("another program's temporary files", "print(open(at['outside'] + '/file').read()); passed()"),
    ("writing the kernel's switches", "open('/proc/sys/kernel/core_pattern', 'w'); passed()"),
    ("writing a disk", "open('/dev/vda', 'wb'); passed()"),
    ("reading the kernel's memory", "open('/proc/kcore', 'rb').read(1); passed()"),
)

_LASTING = (
    ("what an agent obeys", "AGENTS.md", "mine"),
    ("a new file that an agent obeys", "CLAUDE.md", ""),
    ("settings of git", ".git/config", "[core]\n\tbare = false\n"),
    ("what an agent obeys below the top", "sub/AGENTS.md", "mine"),
    ("a new file that a shell obeys below the top", "sub/.envrc", ""),
    ("where packages come from, below the top", "sub/.npmrc", "mine"),
    ("tasks of an editor below the top", "sub/.vscode/tasks.json", ""),
    ("settings of an agent below the top", "sub/.claude/settings.json", ""),
)
_KEPT = tuple(
    Probe(
        f"changing for good: {text}",
        f"os.makedirs(os.path.dirname('./{file}'), exist_ok=True); "
        f"open('{file}', 'w').write('[core]\\n\\tfsmonitor = ./x\\n')",
        file=file,
        before=before,
    )
    for text, file, before in _LASTING
)

_PROCESSES = _all(
    ("a signal to Hermes", "os.kill(at['pid'], 0); passed()", 6),
    ("ending another process", "os.kill(at['victim'], signal.SIGKILL); passed()", 6),
    ("the environment of Hermes", "print(open(f\"/proc/{at['pid']}/environ\").read()); passed()"),
    ("the environment of another process", "print(open(f\"/proc/{at['victim']}/environ\").read()); passed()"),
    ("the memory of Hermes", "open(f\"/proc/{at['pid']}/mem\", 'rb'); passed()"),
    ("the open files of Hermes", "os.readlink(f\"/proc/{at['pid']}/fd/0\"); passed()"),
    ("the folder of another process", "os.readlink(f\"/proc/{at['victim']}/root/etc/ssl/private\"); passed()"),
    ("the root of the first process", "open('/proc/1/root/etc/shadow').read(); passed()"),
    ("attaching to a process", "call(101, 117, 16, at['victim'], 0, 0)"),
    ("seizing a process", "call(101, 117, 0x4206, at['victim'], 0, 0)"),
    ("reading another's memory", "call(310, 270, at['victim'], 0, 0, 0, 0, 0)"),
    ("another's descriptors", "p = os.pidfd_open(at['victim']); call(438, 438, p, 0, 0)"),
    ("limits of another process", "import resource as r; r.prlimit(at['victim'], r.RLIMIT_NOFILE, (9, 9)); passed()"),
    ("slowing down Hermes", "os.setpriority(os.PRIO_PROCESS, at['pid'], 5); passed()"),
    ("slowing down another process", "os.setpriority(os.PRIO_PROCESS, at['victim'], 5); passed()"),
    ("slowing down everything", "os.setpriority(os.PRIO_USER, 0, 5); at['own_net'] or passed()"),
    ("the processors of another process", "os.sched_setaffinity(at['victim'], {0}); passed()"),
    ("how another process is scheduled", "os.sched_setscheduler(at['victim'], 3, os.sched_param(0)); passed()"),
    ("the disk of another process", "call(251, 30, 1, at['victim'], 3 << 13)"),
    ("stopping another process", "os.kill(at['victim'], signal.SIGSTOP); passed()", 6),
    ("mounting", "call(165, 40, b'none', b'.', b'tmpfs', 0, 0)"),
    ("mounting by a newer call", "call(428, 428, -100, b'/', 0)"),
    ("a new user namespace", "call(272, 97, 0x10000000)"),
    ("a new network namespace", "call(272, 97, 0x40000000)"),
    ("a namespace by clone", "call(56, 220, 0x10000000 | 17, 0, 0, 0, 0)"),
    ("entering a namespace", "f = os.open('/proc/self/ns/mnt', os.O_RDONLY); call(308, 268, f, 0)"),
    ("bpf", "call(321, 280, 0, ctypes.create_string_buffer(128), 128)"),
    ("io_uring", "call(425, 425, 1, ctypes.create_string_buffer(256))"),
    ("keys of the kernel", "call(250, 219, 0, -3, 0)"),
    ("userfaultfd", "call(323, 282, 0)"),
    ("perf", "call(298, 241, ctypes.create_string_buffer(128), 0, -1, -1, 0)"),
    ("typing into a terminal", "a, b = os.openpty(); fcntl.ioctl(b, 0x5412, b'x'); passed()"),
    ("changing the root", "os.chroot('.'); passed()"),
    ("a program of another user's rights", "open('s', 'w'); os.chmod('s', 0o4755); passed()"),
    ("becoming another user", "os.setuid(65534 if os.getuid() != 65534 else 0); passed()"),
    ("new privileges", "'NoNewPrivs:\\t1' in open('/proc/self/status').read() or passed()"),
    ("capabilities", "'CapEff:\\t0000000000000000' in open('/proc/self/status').read() or passed()"),
    ("setting the clock", "import time; time.clock_settime(0, time.time()); passed()"),
    ("the name of the machine", "socket.sethostname('x'); passed()"),
    # What has names for all: told of Landlock, which cannot close it.
    ("memory that another program shares", "libc.shmget(at['memory'], 0, 0) >= 0 and at['own_net'] and passed()"),
    ("memory that has a name", "os.path.exists('/dev/shm/' + at['abstract']) and at['own_net'] and passed()"),
    (
        "the list of other programs",
        "b'sleep' in open(f\"/proc/{at['victim']}/cmdline\", 'rb').read() and at['own_net'] and passed()",
    ),
)

_NETWORK = _all(
    ("a server of this machine", "connect(socket.AF_INET, ('127.0.0.1', at['port']))"),
    ("a server of this machine, mapped", "connect(socket.AF_INET6, ('::ffff:127.0.0.1', at['port']))"),
    ("a server of this machine at 127.0.0.2", "connect(socket.AF_INET, ('127.0.0.2', at['any']))"),
    ("a server of this machine by IPv6", "connect(socket.AF_INET6, ('::1', at['six']))"),
    ("a server of this machine by 0.0.0.0", "connect(socket.AF_INET, ('0.0.0.0', at['port']))"),
    ("a public address", "connect(socket.AF_INET, ('1.1.1.1', 443))"),
    ("a private address", "connect(socket.AF_INET, ('10.0.0.1', 80))"),
    ("the metadata of a cloud", "connect(socket.AF_INET, ('169.254.169.254', 80))"),
    ("a public address by IPv6", "connect(socket.AF_INET6, ('2606:4700:4700::1111', 443))"),
    (
        "a datagram",
        "s = socket.socket(2, socket.SOCK_DGRAM); s.sendto(b'x', ('127.0.0.1', at['port'])); at['own_net'] or passed()",
    ),
    ("a connected datagram", "connect(socket.AF_INET, ('1.1.1.1', 53), socket.SOCK_DGRAM)"),
    ("a raw socket", "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1); passed()"),
    ("packets", "socket.socket(17, socket.SOCK_RAW); passed()"),
    ("vsock", "socket.socket(40, socket.SOCK_STREAM); passed()"),
    ("the kernel's ciphers", "socket.socket(38, socket.SOCK_SEQPACKET); passed()"),
    (
        "connecting by sending",
        "socket.socket().sendto(b'x', 0x20000000, ('127.0.0.1', at['port'])); passed()",
    ),
    (
        "connecting by sending a message",
        "socket.socket().sendmsg([b'x'], [], 0x20000000, ('127.0.0.1', at['port'])); passed()",
    ),
    ("a socket of another program", "connect(socket.AF_UNIX, at['outside'] + '/socket')"),
    (
        "a socket through a link",
        "os.symlink(at['outside'] + '/socket', 'l4'); connect(socket.AF_UNIX, 'l4')",
    ),
    ("an abstract socket of another program", "connect(socket.AF_UNIX, b'\\0' + at['abstract'].encode())"),
    (
        "a datagram to another program's socket",
        "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', at['outside'] + '/datagrams'); passed()",
    ),
    ("the daemon of containers", "connect(socket.AF_UNIX, '/var/run/docker.sock')"),
    ("the system's message bus", "connect(socket.AF_UNIX, '/run/dbus/system_bus_socket')"),
    (
        "being reached from outside",
        "s = socket.create_server(('0.0.0.0', 0)); s.getsockname()[0] == '127.0.0.1' or at['own_net'] or passed()",
    ),
    (
        "being reached without a bind",
        "s = socket.socket(); s.listen(); s.getsockname()[0] == '127.0.0.1' or at['own_net'] or passed()",
    ),
)

PROBES = (*_FILES, *_KEPT, *_PROCESSES, *_NETWORK)


@frozen
class Canaries:
    """What probes reach for, as they are told."""

    told: Mapping[str, object]


@contextmanager
def canaries(plan: Plan, hermes: Path) -> Iterator[Canaries]:
    """Make them, and take them away. ``hermes`` is the home of Hermes."""
    person = Path(os.path.expanduser("~"))  # noqa: PTH111
    with ExitStack() as stack:
        outside = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hermes-outside-")))
        (outside / "file").write_text("canary")
        (outside / "empty").mkdir()
        key = person / ".ssh" / "id_probe"
        made = not key.parent.exists()
        key.parent.mkdir(mode=0o700, exist_ok=True)
        if not key.exists():
            key.write_text("canary")
            stack.callback(_forget, key, made)
        victim = subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        stack.callback(victim.wait)
        stack.callback(victim.kill)
        told: dict[str, object] = {"outside": str(outside), "person": str(person), "hermes": str(hermes)}
        told |= {"pid": os.getpid(), "victim": victim.pid, "tool": python()[0]}
        for name, family, host in (
            ("port", socket.AF_INET, "127.0.0.1"),
            ("any", socket.AF_INET, "0.0.0.0"),  # noqa: S104 - a canary, for seconds, that answers nothing
            ("six", socket.AF_INET6, "::1"),
        ):
            listener = stack.enter_context(socket.socket(family))
            try:
                listener.bind((host, 0))
                listener.listen()
                told[name] = listener.getsockname()[1]
            except OSError:  # a machine without IPv6
                told[name] = 9
        for name, kind in (("socket", socket.SOCK_STREAM), ("datagrams", socket.SOCK_DGRAM)):
            unix = stack.enter_context(socket.socket(socket.AF_UNIX, kind))
            unix.bind(str(outside / name))
            if kind == socket.SOCK_STREAM:
                unix.listen()
        told["abstract"] = f"hermes-probe-{uuid4().hex}"
        abstract = stack.enter_context(socket.socket(socket.AF_UNIX))
        abstract.bind(f"\0{told['abstract']}")
        abstract.listen()
        told["memory"] = stack.enter_context(_shared(str(told["abstract"])))
        yield Canaries(told)


@contextmanager
def _shared(name: str) -> Iterator[int]:
    """Memory that all programs of this user can reach: by a name, and by a number, which this is."""
    import ctypes

    libc, key = ctypes.CDLL(None, use_errno=True), int.from_bytes(os.urandom(3), "big") + 1
    known = libc.shmget(key, 4096, 0o1600)  # made, for this user
    named = Path("/dev/shm", name)  # noqa: S108
    try:
        with suppress(OSError):
            named.touch(0o600)
        yield key
    finally:
        named.unlink(missing_ok=True)
        if known >= 0:
            libc.shmctl(known, 0, None)


def _forget(key: Path, folder: bool) -> None:
    key.unlink(missing_ok=True)
    if folder:
        key.parent.rmdir()


async def tried(walled: Walled, found: Canaries, probes: Sequence[Probe]) -> list[str]:
    """Run probes behind a wall; the texts of those that it let through. Raises HermesError."""
    sandbox = await walled.sandbox()
    if sandbox is None:  # what they try, they would do
        raise UserError("There is no wall to try.", hint=INSTALL)
    told = json.dumps({**found.told, "own_net": walled.name == "bubblewrap"})
    for probe in probes:
        if probe.before:
            Path(walled.folder, probe.file).parent.mkdir(exist_ok=True)
            Path(walled.folder, probe.file).write_text(probe.before)
    walled.protected.begin()
    try:
        through = [probe.text for probe in probes if await _passes(walled, sandbox, probe, told)]
    finally:
        walled.protected.end(left=sandbox.left)
    return through + [probe.text for probe in probes if probe.file and _text(walled, probe) != probe.before]


def _text(walled: Walled, probe: Probe) -> str:
    with suppress(OSError):
        return Path(walled.folder, probe.file).read_text()
    return ""


async def _passes(walled: Walled, sandbox: Sandbox, probe: Probe, told: str) -> bool:
    output = bytearray()
    mark = uuid4().hex
    code = f"{_BEGIN}\ntry:\n    {probe.code}\nexcept (OSError, ValueError): pass\n"
    env = walled.environment({"PATH": os.environ.get("PATH", os.defpath), MARK: mark})
    argv = [python()[0], "-I", "-S", "-c", code, told]
    job = Job(sandbox, output.extend)
    try:
        await job.start(asked(argv, walled.folder, env), b"")
        await job.finished
    finally:
        job.forget()
    return b"PASSED" in output or b"SyntaxError" in output


async def refuted(plan: Plan, probes: Sequence[Probe] = PROBES) -> tuple[Wall, list[str]]:
    """Try some or all of them in an empty folder; the wall, and what it let through. Raises HermesError."""
    folder = tempfile.mkdtemp(prefix="hermes-probe-")
    homes = tempfile.mkdtemp(prefix="hermes-homes-")
    walled = Walled(folder, evolve(plan, homes=Path(homes), records=None))
    try:
        with canaries(plan, Path(plan.hidden[-1]) if plan.hidden else Path(homes)) as found:
            through = await tried(walled, found, probes)
            return walled.wall, through
    finally:
        await walled.close()
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(homes, ignore_errors=True)
