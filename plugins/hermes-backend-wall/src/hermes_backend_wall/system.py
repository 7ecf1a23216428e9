"""Where this machine keeps what every program needs, and what no command may see of it."""

from collections.abc import Iterable
from pathlib import Path

__all__ = [
    "DEVICES",
    "ETC",
    "ETC_SHARED",
    "KNOWLEDGE",
    "MACHINE",
    "OPTIONAL",
    "STORES",
    "SYSTEM",
    "WHOLE",
    "inside",
    "path_of_programs",
]

SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
STORES = ("/nix/store", "/gnu/store")  # where other systems keep what /usr holds elsewhere
# Of /etc only what programs need and everybody may know. Keys, passwords and the people's names stay outside.
ETC = (
    *("alternatives", "ca-certificates", "ca-certificates.conf", "crypto-policies", "fonts", "java-11-openjdk"),
    *("java-17-openjdk", "java-21-openjdk", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "locale.alias", "locale.conf"),
    *("localtime", "mime.types", "nsswitch.conf", "os-release", "pki/ca-trust", "pki/tls/certs", "protocols"),
    *("services", "ssl/certs", "ssl/openssl.cnf", "terminfo", "timezone"),
)
# Where the files of /etc are the machine's own, also the names of people and hosts, and what shells and tools set.
ETC_SHARED = (
    *("bash.bashrc", "bash_completion.d", "debian_version", "fstab", "gai.conf", "gitconfig", "group", "host.conf"),
    *("hostname", "hosts", "inputrc", "ld.so.preload", "login.defs", "lsb-release", "magic", "magic.mime", "maven"),
    *("mtab", "passwd", "perl", "profile", "profile.d", "python3", "redhat-release", "resolv.conf", "rpc", "shells"),
    *("subgid", "subuid", "vim", "xdg", "zsh"),
)
OPTIONAL = ("/opt", "/snap", "/var/lib/dpkg", "/var/cache/fontconfig", "/var/cache/man", "/run/systemd/resolve")
# What programs ask about processors, memory and themselves.
KNOWLEDGE = ("/proc", "/sys/devices/system", "/sys/fs/cgroup", "/sys/kernel/mm/transparent_hugepage")
DEVICES = tuple(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty"))
# What /proc tells root about the whole machine.
MACHINE = tuple(
    f"/proc/{name}"
    for name in (
        *("kcore", "keys", "kpagecgroup", "kpagecount", "kpageflags", "latency_stats", "sched_debug", "slabinfo"),
        *("sysrq-trigger", "timer_list", "vmallocinfo", "vmcore"),
    )
)
# A folder that holds one of these is not one project: the person's keys and programs would be in it.
WHOLE = (
    *("/", "/home", "/root", "/etc", "/usr", "/var", "/tmp", "/opt", "/srv", "/mnt", "/media", "/run", "/dev"),  # noqa: S108
    *("/proc", "/sys", "/boot", *SYSTEM),
)
USUAL = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")


def inside(path: str, place: str) -> bool:
    """Whether a path is a place or lies in it."""
    return path == place or path.startswith(f"{place.rstrip('/')}/")


def path_of_programs(path: str, places: Iterable[str], python: str) -> str:
    """The person's own order of programs, as far as they lie in ``places``; then the usual ones and Hermes' Python."""
    shown = tuple(places)
    mine = [folder for folder in path.split(":") if any(inside(folder, place) for place in shown)]
    return ":".join(dict.fromkeys([*mine, *USUAL, str(Path(python) / "bin")]))
