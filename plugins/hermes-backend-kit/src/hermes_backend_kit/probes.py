"""What a command tries that a wall must not let through: data alone.

Each probe is a piece of Python that calls ``passed`` when it got what it must not get, or changes a file that must be
as before afterwards; ``at`` names the canaries, which
``canaries`` makes. ``SHELL`` says some of them in POSIX sh, for places that have no Python.
"""

from collections.abc import Mapping

from hermes_backend_kit.walls import (
    CALLS,
    FILTER,
    LOOSE,
    LOOSE_BUT_GIT,
    NETWORK,
    SEEN,
    SHARED_MEMORY,
    SIGNALS,
    SOCKETS,
)
from hermes_core.values import frozen

__all__ = ["PROBES", "SHELL", "Probe"]


@frozen
class Probe:
    """``text`` says what is tried, in the words of a finding. Where a wall says that it ``lacks`` that, it may pass.

    ``system`` is what reaches for the system around it: in a place with a system of its own that is nobody else's.
    ``file`` is what it changes in the folder, or makes where ``before`` is empty: afterwards it must be as before.
    """

    text: str
    code: str
    lacks: tuple[str, ...] = ()
    system: bool = False
    file: str = ""
    before: str = ""


def _all(*rows: tuple[str, str] | tuple[str, str, str], lacks: str = "", system: bool = False) -> tuple[Probe, ...]:
    """Probes of one sort; what each row names is lacked beside what all of them may lack."""
    return tuple(Probe(row[0], row[1], tuple(word for word in (lacks, *row[2:]) if word), system) for row in rows)


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
    ("changing a file's owner outside", "os.chown(at['outside'] + '/file', os.getuid(), os.getgid()); passed()"),
    ("changing a file's times outside", "os.utime(at['outside'] + '/file', (1, 1)); passed()"),
    ("an attribute on a file outside", "os.setxattr(at['outside'] + '/file', 'user.x', b'1'); passed()"),
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
    ("a device file", "os.mknod('disk', 0o60600, os.makedev(8, 0)); passed()"),
    ("reading a key in the home", "print(open(at['person'] + '/.ssh/id_probe').read()); passed()"),
    ("listing the home", "'.ssh' in os.listdir(at['person']) and '.bash_history' and passed()"),
    ("writing into the home", "open(at['person'] + '/.ssh/config_probe', 'w'); passed()"),
    ("writing a shell's start-up file", "open(at['person'] + '/.bashrc_probe_dir/x', 'w'); passed()"),
    ("reading Hermes' own folder", "{*os.listdir(at['hermes'])} - {'skills', 'profiles'} and passed()"),
    ("another program's temporary files", "print(open(at['outside'] + '/file').read()); passed()"),
    ("writing the kernel's switches", "open('/proc/sys/kernel/core_pattern', 'w'); passed()"),
    ("writing a disk", "os.open('/dev/vda', os.O_WRONLY); passed()"),
    ("reading the kernel's memory", "open('/proc/kcore', 'rb').read(1) and passed()"),
)

_PROCESSES = _all(
    ("a signal to Hermes", "os.kill(at['pid'], 0); passed()", SIGNALS),
    ("ending another process", "os.kill(at['victim'], signal.SIGKILL); passed()", SIGNALS),
    ("the environment of Hermes", "print(open(f\"/proc/{at['pid']}/environ\").read()); passed()"),
    ("the environment of another process", "print(open(f\"/proc/{at['victim']}/environ\").read()); passed()"),
    ("the memory of Hermes", "open(f\"/proc/{at['pid']}/mem\", 'rb'); passed()"),
    ("the open files of Hermes", "os.readlink(f\"/proc/{at['pid']}/fd/0\"); passed()"),
    ("the folder of another process", "os.listdir(f\"/proc/{at['victim']}/root{at['outside']}\"); passed()"),
    ("the root of the first process", "open('/proc/1/root' + at['outside'] + '/file'); passed()"),
    ("attaching to a process", "call(101, 117, 16, at['victim'], 0, 0)"),
    ("seizing a process", "call(101, 117, 0x4206, at['victim'], 0, 0)"),
    ("reading another's memory", "call(310, 270, at['victim'], 0, 0, 0, 0, 0)"),
    ("another's descriptors", "p = os.pidfd_open(at['victim']); call(438, 438, p, 0, 0)"),
    ("limits of another process", "import resource as r; r.prlimit(at['victim'], r.RLIMIT_NOFILE, (9, 9)); passed()"),
    ("slowing down Hermes", "os.setpriority(os.PRIO_PROCESS, at['pid'], 5); passed()"),
    ("slowing down another process", "os.setpriority(os.PRIO_PROCESS, at['victim'], 5); passed()"),
    ("slowing down everything", "os.setpriority(os.PRIO_USER, 0, 5); own_pids or passed()"),
    ("the processors of another process", "os.sched_setaffinity(at['victim'], {0}); passed()"),
    ("how another process is scheduled", "os.sched_setscheduler(at['victim'], 3, os.sched_param(0)); passed()"),
    ("the disk of another process", "call(251, 30, 1, at['victim'], 3 << 13)"),
    ("stopping another process", "os.kill(at['victim'], signal.SIGSTOP); passed()", SIGNALS),
    ("mounting", "call(165, 40, b'none', b'.', b'tmpfs', 0, 0)"),
    ("mounting by a newer call", "call(428, 428, -100, b'/', 0)"),
    ("typing into a terminal", "a, b = os.openpty(); fcntl.ioctl(b, 0x5412, b'x'); passed()"),
    ("changing the root", "os.chroot('.'); passed()"),
    ("new privileges", "'NoNewPrivs:\\t1' in open('/proc/self/status').read() or passed()"),
    ("setting the clock", "import time; time.clock_settime(0, time.time()); passed()"),
    ("the name of the machine", "socket.sethostname('x'); passed()"),
    ("memory that another program shares", "libc.shmget(at['memory'], 0, 0) >= 0 and passed()", SHARED_MEMORY),
    ("memory that has a name", "os.path.exists('/dev/shm/' + at['abstract']) and passed()", SHARED_MEMORY),
    ("the list of other programs", "'sleep' in line(at['victim']) and passed()", SEEN),
)

_KEPT = tuple(
    Probe(
        f"changing for good: {text}",
        f"os.makedirs(os.path.dirname('./{file}'), exist_ok=True); "
        f"open('{file}', 'w').write('[core]\\n\\tfsmonitor = ./x\\n')",
        lacks=(LOOSE,) if file.startswith(".git/") else (LOOSE, LOOSE_BUT_GIT),
        file=file,
        before=before,
    )
    for text, file, before in (
        ("what an agent obeys", "AGENTS.md", "mine"),
        ("a new file that an agent obeys", "CLAUDE.md", ""),
        ("settings of git", ".git/config", "[core]\n\tbare = false\n"),
        ("what an agent obeys below the top", "sub/AGENTS.md", "mine"),
        ("a new file that a shell obeys below the top", "sub/.envrc", ""),
        ("where packages come from, below the top", "sub/.npmrc", "mine"),
        ("tasks of an editor below the top", "sub/.vscode/tasks.json", ""),
        ("settings of an agent below the top", "sub/.claude/settings.json", ""),
    )
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
        "s = socket.socket(2, socket.SOCK_DGRAM); s.sendto(b'x', ('127.0.0.1', at['port'])); own_net or passed()",
    ),
    ("a connected datagram", "connect(socket.AF_INET, ('1.1.1.1', 53), socket.SOCK_DGRAM)"),
    (
        "connecting by sending",
        "socket.socket().sendto(b'x', 0x20000000, ('127.0.0.1', at['port'])); passed()",
    ),
    (
        "connecting by sending a message",
        "socket.socket().sendmsg([b'x'], [], 0x20000000, ('127.0.0.1', at['port'])); passed()",
    ),
    (
        "being reached from outside",
        "s = socket.create_server(('0.0.0.0', 0)); s.getsockname()[0] == '127.0.0.1' or own_net or passed()",
    ),
    (
        "being reached without a bind",
        "s = socket.socket(); s.listen(); s.getsockname()[0] == '127.0.0.1' or own_net or passed()",
    ),
    lacks=NETWORK,
)

_CALLS = _all(
    ("watching all that goes on", "call(300, 262, 0, 0)"),
    ("a new user namespace", "call(272, 97, 0x10000000)"),
    ("a new network namespace", "call(272, 97, 0x40000000)"),
    ("a namespace by clone", "call(56, 220, 0x10000000 | 17, 0, 0, 0, 0)"),
    ("entering a namespace", "f = os.open('/proc/self/ns/mnt', os.O_RDONLY); call(308, 268, f, 0)"),
    ("bpf", "call(321, 280, 0, ctypes.create_string_buffer(128), 128)"),
    ("io_uring", "call(425, 425, 1, ctypes.create_string_buffer(256))", FILTER),
    ("keys of the kernel", "call(250, 219, 0, -3, 0)"),
    ("userfaultfd", "call(323, 282, 0)"),
    ("perf", "call(298, 241, ctypes.create_string_buffer(128), 0, -1, -1, 0)"),
    ("a raw socket", "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1); passed()"),
    ("packets", "socket.socket(17, socket.SOCK_RAW); passed()"),
    ("vsock", "socket.socket(40, socket.SOCK_STREAM); passed()", FILTER),
    ("the kernel's ciphers", "socket.socket(38, socket.SOCK_SEQPACKET); passed()"),
    lacks=CALLS,
)

_SOCKETS = _all(
    ("a socket of another program", "connect(socket.AF_UNIX, at['outside'] + '/socket')"),
    (
        "a socket through a link",
        "os.symlink(at['outside'] + '/socket', 'l4'); connect(socket.AF_UNIX, 'l4')",
    ),
    ("an abstract socket of another program", "connect(socket.AF_UNIX, b'\\0' + at['abstract'].encode())", SOCKETS),
    (
        "a datagram to another program's socket",
        "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', at['outside'] + '/datagrams'); passed()",
    ),
    ("the daemon of containers", "connect(socket.AF_UNIX, '/var/run/docker.sock')"),
    ("the system's message bus", "connect(socket.AF_UNIX, '/run/dbus/system_bus_socket')"),
)

_SYSTEM = _all(
    (
        "changing a mode through a descriptor",
        "f = os.open(at['tool'], os.O_RDONLY); os.fchmod(f, 0o777); passed()",
    ),
    (
        "flags of a file of the system",
        "f = os.open(at['tool'], os.O_RDONLY); fcntl.ioctl(f, 0x40086602, struct.pack('l', 0x40)); passed()",
    ),
    ("reading the passwords of the system", "open('/etc/shadow').read(); passed()"),
    ("reading keys of the system", "os.listdir('/etc/ssl/private'); passed()"),
    ("writing into /etc", "open('/etc/hermes-probe', 'w'); passed()"),
    ("writing into /usr", "open('/usr/hermes-probe', 'w'); passed()"),
    ("a program of another user's rights", "open('s', 'w'); os.chmod('s', 0o4755); passed()"),
    ("becoming another user", "os.setuid(65534 if os.getuid() != 65534 else 0); passed()"),
    ("capabilities", "'CapEff:\\t0000000000000000' in open('/proc/self/status').read() or passed()"),
    system=True,
)

PROBES = (*_FILES, *_KEPT, *_SYSTEM, *_PROCESSES, *_CALLS, *_SOCKETS, *_NETWORK)

# By their texts; each succeeds when it got what it must not get. ``own_net`` is empty where the network is ours.
SHELL: Mapping[str, str] = {
    "writing a new file outside": 'echo x >"$outside/new"',
    "changing a file outside": 'echo x >>"$outside/file"',
    "emptying a file outside": ': >"$outside/file"',
    "removing a file outside": 'rm "$outside/file"',
    "removing a folder outside": 'rmdir "$outside/empty"',
    "making a folder outside": 'mkdir "$outside/folder"',
    "renaming a file outside": 'mv "$outside/file" "$outside/other"',
    "moving a file out": 'echo x >moved && mv moved "$outside/moved"',
    "moving a file in": 'mv "$outside/file" taken',
    "a hard link to a file outside": 'ln "$outside/file" hard',
    "a hard link outside": 'echo x >inner && ln inner "$outside/hard"',
    "a symbolic link outside": 'ln -s /etc "$outside/link"',
    "writing through a symbolic link": 'ln -s "$outside/file" l1 && [ -e l1 ] && echo x >>l1',
    "reading through a symbolic link": 'ln -s "$outside/file" l2 && cat l2',
    "writing through a link to a folder": 'ln -s "$outside" l3 && echo x >l3/x',
    "changing a file's mode outside": 'chmod 777 "$outside/file"',
    "changing a folder's mode outside": 'chmod 777 "$outside"',
    "changing a file's owner outside": 'chown "$(id -u)" "$outside/file"',
    "changing a file's times outside": '[ -e "$outside/file" ] && touch -t 200001010000 "$outside/file"',
    "a device file": "mknod disk b 8 0",
    "reading a key in the home": 'cat "$person/.ssh/id_probe"',
    "listing the home": 'ls -a "$person" | grep -qx .ssh',
    "writing into the home": 'echo x >"$person/.ssh/config_probe"',
    "reading Hermes' own folder": 'ls -A "$hermes" | grep -qvxE "skills|profiles"',
    "another program's temporary files": 'cat "$outside/file"',
    "reading the passwords of the system": "cat /etc/shadow",
    "reading keys of the system": "ls /etc/ssl/private",
    "writing into /etc": ": >/etc/hermes-probe",
    "writing into /usr": ": >/usr/hermes-probe",
    "writing the kernel's switches": ": >/proc/sys/kernel/core_pattern",
    "writing a disk": "[ -b /dev/vda ] && : >/dev/vda",
    "reading the kernel's memory": "head -c 1 /proc/kcore | grep -q .",
    "a signal to Hermes": "kill -0 $pid",
    "ending another process": "kill -9 $victim",
    "the environment of Hermes": "cat /proc/$pid/environ",
    "the environment of another process": "cat /proc/$victim/environ",
    "the memory of Hermes": ": </proc/$pid/mem",
    "the open files of Hermes": "readlink /proc/$pid/fd/0",
    "the folder of another process": 'ls "/proc/$victim/root$outside"',
    "the root of the first process": 'cat "/proc/1/root$outside/file"',
    "slowing down Hermes": "renice -n 5 -p $pid",
    "slowing down another process": "renice -n 5 -p $victim",
    "stopping another process": "kill -STOP $victim",
    "mounting": "mount -t tmpfs none .",
    "changing the root": "chroot . /bin/true",
    "new privileges": "! grep -q 'NoNewPrivs:.1' /proc/self/status",
    "the name of the machine": "hostname x",
    "a new user namespace": "unshare -U true",
    "a new network namespace": "unshare -n true",
    "a public address": '[ -z "$own_net" ] || sed 1d /proc/net/route | grep -q .',
}
