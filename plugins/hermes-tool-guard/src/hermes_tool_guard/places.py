"""What kind of place a path is: inside the folder, vital, a device, a credential, something that starts by itself."""

import os
import re
import time
from collections.abc import Iterable, Sequence
from enum import Enum
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

from hermes_tool_guard.judgement import DERIVED, LISTED, OPAQUE, UNKNOWN

__all__ = ["Places", "Zone", "credential_name", "emptied", "normal"]


class Zone(Enum):
    """A kind of place, the most delicate first."""

    GUARDED = "Hermes' own"
    VITAL = "vital"
    DEVICE = "a raw device"
    SOCKET = "a network connection"
    CREDENTIAL = "holds credentials"
    PERSISTENT = "starts by itself"
    HARDWARE = "part of the kernel"
    UNKNOWN = "cannot be known"
    OUTSIDE = "outside"
    REPOSITORY = "git's own"
    WORKSPACE = "the folder as a whole"
    TEMPORARY = "temporary"
    INSIDE = "inside"
    SINK = "nowhere"


_ANY = re.compile(f"[{UNKNOWN}]")
_NOT_LISTED = re.compile(f"[{OPAQUE}{DERIVED}]")
_GLOB = re.compile(r"[*?\[]")
_TOPS = "bin boot dev etc home lib lib32 lib64 media mnt opt proc root run sbin srv sys usr var snap"
_TOPS += " System Library Applications Users Volumes private"
_DEEPER = "/usr/bin /usr/lib /usr/lib64 /usr/lib32 /usr/libexec /usr/sbin /usr/local /usr/share /var/lib /var/log"
_DEEPER += (
    " /boot/efi /boot/grub /etc/ssh /etc/systemd /etc/pam.d /etc/init.d /var/lib/dpkg /var/lib/rpm /var/lib/pacman"
)
_DEEPER += (
    " /lib/modules /lib/systemd /usr/lib/systemd /usr/lib/modules /lib/x86_64-linux-gnu /usr/lib/x86_64-linux-gnu"
)
_DEEPER += " /var/spool /var/run /var/db /private/etc /private/var /System/Library"
_VITAL = {"/", *(f"/{top}" for top in _TOPS.split()), *_DEEPER.split()}
_HOMES = re.compile(r"/(?:home|Users|var/home)/[^/]+|/root|/var/root")
_DEVICE = re.compile(
    r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|dm-|md|mapper/|loop|sg|st|nbd|ram|zram|mem$|kmem$|port$|mtd|block/)"
)
_SINK = re.compile(r"/dev/(?:null|zero|full|random|urandom|tty|stdin|stdout|stderr|ptmx|fd/\d+)$")
_CREDENTIAL = re.compile(
    r"(?:^|/)(?:\.(?:ssh|aws|gnupg|azure|kube|password-store|mozilla|thunderbird|electrum|bitcoin|ethereum|oci|boto"
    r"|s3cfg|netrc|pgpass|my\.cnf|git-credentials|npmrc|yarnrc|yarnrc\.yml|pypirc|dockercfg|vault-token|htpasswd"
    r"|(?:bash|zsh|sh|psql|mysql|python|node_repl|sqlite|rediscli|dbshell)_history"
    r"|local/share/(?:keyrings|kwalletd)|config/(?:gcloud|gh|hub|op|google-chrome|chromium|BraveSoftware|rclone|doctl"
    r"|heroku|configstore|git/credentials|keybase|Bitwarden[^/]*|1Password|microsoft-edge[^/]*|vivaldi|opera)|docker/config\.json"
    r"|cargo/credentials(?:\.toml)?"
    r"|gem/credentials|terraform\.d/credentials[^/]*|m2/settings\.xml|gradle/gradle\.properties)(?:/|$)"
    r"|\.env(?:rc)?(?:\.(?!example$|sample$|template$|dist$|test$|defaults$)[^/]*)?$"
    r"|(?:id_(?:rsa|dsa|ecdsa|ed25519)|credentials|secrets?)(?:\.(?:json|ya?ml|toml|txt|ini|env))?$"
    r"|[^/]*\.(?:pem|key|p12|pfx|kdbx?|jks|keystore|ppk|gpg|asc)$|[^/]*_(?:rsa|ed25519)$|wallet\.dat$"
    r"|Keychains(?:/|$)|Login Data$|logins\.json$|key4\.db$|Cookies$|cookies\.sqlite$"
    r"|Library/(?:Cookies|Safari)(?:/|$)|places\.sqlite$)"
    r"|^/etc/(?:g?shadow|sudoers|ssl/private|krb5\.keytab|security/opasswd|ssh/ssh_host|openvpn|wireguard|kubernetes)"
    r"|^/(?:var/)?run/secrets|^/proc/(?:[^/]+/(?:environ|mem|maps|fd|cmdline|root|cwd)|kcore)"
    r"|^/var/lib/(?:docker|kubelet)"
    r"|^/run/docker\.sock|^/var/run/docker\.sock"
)
_HIDDEN = (
    ".ssh",
    ".aws",
    ".gnupg",
    ".env",
    ".netrc",
    ".kube",
    ".azure",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".mozilla",
    ".bash_history",
    ".zsh_history",
    ".docker",
    ".config",
    ".password-store",
    ".pgpass",
    "id_rsa",
    "id_ed25519",
    "id_ecdsa",
    "shadow",
    "sudoers",
    "environ",
    ".local",
    "credentials",
)
_PERSISTENT = re.compile(
    r"(?:^|/)(?:\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|profile|zshrc|zshenv"
    r"|zprofile|zlogin|zlogout"
    r"|kshrc|cshrc|tcshrc|login|inputrc|xinitrc|xprofile|xsession(?:rc)?|pam_environment|vimrc|emacs"
    r"|tmux\.conf|screenrc"
    r"|gitconfig|envrc|pythonrc|curlrc|wgetrc|gdbinit|irbrc|Rprofile|pdbrc|psqlrc|sqliterc|lesskey|hushlogin)$"
    r"|\.git/(?:hooks(?:/|$)|config$|info/attributes$|modules/)|\.husky(?:/|$)|\.config/(?:autostart"
    r"|systemd|fish|git|nvim"
    r"|environment\.d|plasma-workspace|upstart|zsh)(?:/|$)|\.ssh/(?:authorized_keys2?|rc|config|environment)$"
    r"|Library/Launch(?:Agents|Daemons)|\.local/share/(?:applications|systemd)(?:/|$)"
    r"|(?:sitecustomize|usercustomize)\.py$|site-packages/[^/]*\.pth$|\.vim/|\.oh-my-zsh/|\.claude/"
    r"|\.cursor/|\.vscode/tasks\.json$)"
    r"|^/etc/(?:cron|anacrontab|systemd|init|rc|profile|bash|zsh|environment|ld\.so|sudoers|pam\.d"
    r"|passwd|group|shadow|xdg"
    r"|skel|udev|modprobe|modules|sysctl|hosts$|resolv|nsswitch|ssh|apt|yum|update-motd|logrotate"
    r"|inetd|xinetd|security"
    r"|crontab|default|NetworkManager|network|doas)|^/var/spool/(?:cron|at)|^/(?:usr/)?lib/systemd"
    r"|^/usr/(?:local/)?s?bin/|^/s?bin/"
)
_VITAL_FILE = re.compile(
    r"/etc/(?:passwd|g?shadow|group|fstab|sudoers|crypttab|inittab|ld\.so\.(?:preload|cache|conf)|nsswitch\.conf|machine-id"
    r"|pam\.d/.*|systemd/system\.conf)-?|/boot/(?:.*/)?(?:vmlinuz|initrd|initramfs|grub|kernel|System\.map)[^/]*(?:/.*)?"
    r"|/(?:usr/)?s?bin/(?:ba|da|z)?sh|/(?:usr/)?s?bin/(?:init|sudo|su|login|mount|systemctl|systemd)|/(?:usr/)?lib\d*/systemd/systemd"
    r"|/(?:usr/)?lib\d*/(?:[\w-]+/)?(?:ld-[^/]*|libc\.so[^/]*|libc-[^/]*)|/(?:vmlinuz|initrd\.img)|/boot/(?:efi/)?EFI(?:/.*)?"
    r"|/lib/modules(?:/.*)?|/(?:etc|bin|sbin|lib|boot|usr|usr/bin|usr/lib|usr/sbin)/[*?]+"
)
_HARDWARE = re.compile(r"^/(?:dev|sys|proc|boot|lib/modules|run/udev)(?:/|$)")
_TEMPORARY = ("/tmp/", "/var/tmp/", "/dev/shm/")  # noqa: S108 - these are the names of the places


def credential_name(path: str) -> bool:
    """Whether a path, or a pattern of paths, names something that holds credentials."""
    if _CREDENTIAL.search(path):
        return True
    if not _GLOB.search(path):
        return False
    parts = [p for p in path.split("/") if _GLOB.search(p) and not p.startswith("*.") and p.strip("*")]
    return any(fnmatchcase(name, part) for part in parts for name in _HIDDEN if part[0] in ".i[?scek")


_Looked = tuple[dict[str, bool], dict[str, bool], dict[tuple[str, bool], Zone]]


class Places:
    """The places of one check. ``root`` is the working folder; ``guarded`` belongs to Hermes itself."""

    def __init__(self, root: str, home: str, guarded: Sequence[str] = ()) -> None:
        self.root = os.path.normpath(root) if root else ""
        self.home = os.path.normpath(home)
        self.guarded, self.guarded_name = _guarded(tuple(guarded), int(time.monotonic() / _FRESH))
        wide = not self.root or self.root == "/" or self.root in _VITAL
        self._inside = "" if wide else f"{self.root}/"
        self._links: dict[str, bool] = {}
        self._mounts: dict[str, bool] = {}
        self._zones: dict[tuple[str, bool], Zone] = {}

    def absolute(self, word: str, folders: Iterable[str]) -> list[str]:
        """The paths a word may mean, from each folder it may be used in. Not yet simplified."""
        if word[:1] in ("/", *UNKNOWN):  # what is not known may be empty, or begin with a slash
            return [word]
        # A ~ that is left is a plain character to the shell, but not to every program.
        user, slash, rest = word.partition("/")
        homes = [f"{self.home if user == '~' else f'/home/{user[1:]}'}{slash}{rest}"] if user[:1] == "~" else []
        return [*(f"{folder}/{word}" for folder in folders), *homes]

    def zone(self, path: str, *, whole: bool = False) -> Zone:
        """The most delicate kind of place that a path may be; ``whole`` asks of all that lies below it too."""
        known = self._zones.get((path, whole))
        if known is None:
            known = self._zones[path, whole] = self._zone(path, whole)
        return known

    def _zone(self, path: str, whole: bool) -> Zone:
        if _ANY.search(path):
            if not _NOT_LISTED.search(path):  # some file below a folder: any name will do
                return self._zone(path.replace(LISTED, "x"), whole)
            emptied = normal(_ANY.sub("", path))
            if emptied[:1] != "/":
                return Zone.UNKNOWN
            filled = self._plain(emptied, whole)
            return filled if filled in (Zone.VITAL, Zone.GUARDED, Zone.DEVICE, Zone.CREDENTIAL) else Zone.UNKNOWN
        plain = normal(path)
        zone = self._plain(plain, whole)
        if zone is not Zone.SINK and self._linked(path):
            real = os.path.realpath(path)
            real_root = os.path.realpath(self.root)
            if self.root and f"{real}/".startswith(f"{real_root}/"):  # the folder itself may be behind a link
                real = self.root + real[len(real_root) :]
            zone = min((zone, self._plain(real, whole)), key=_ORDER.index)
        return zone

    def _plain(self, path: str, whole: bool) -> Zone:
        if path.startswith("/dev/"):
            if path.startswith("/dev/shm/"):  # noqa: S108 - the name of a place
                return self._by_folder(path)
            if _SINK.match(path):
                return Zone.SINK
            if path.startswith(("/dev/tcp", "/dev/udp")):
                return Zone.SOCKET
            if _DEVICE.match(path):
                return Zone.DEVICE
        if self._is_guarded(path, whole):
            return Zone.GUARDED
        if self.vital(path):
            return Zone.VITAL
        if credential_name(path):
            return Zone.CREDENTIAL
        if _PERSISTENT.search(path):
            return Zone.PERSISTENT
        if _HARDWARE.match(path):
            return Zone.HARDWARE
        return self._by_folder(path)

    def _by_folder(self, path: str) -> Zone:
        if self._inside and f"{path}/".startswith(self._inside):
            rest = path[len(self._inside) :]
            if not rest or not rest.strip("*.?/"):
                return Zone.WORKSPACE
            return Zone.REPOSITORY if rest == ".git" or rest.startswith(".git/") or _hides_git(rest) else Zone.INSIDE
        for place in _TEMPORARY:
            if path.startswith(place):
                return Zone.OUTSIDE if all(map(_everything, path[len(place) :].split("/"))) else Zone.TEMPORARY
        if self.root == self.home and path.startswith(f"{self.root}/"):
            return Zone.INSIDE
        return Zone.OUTSIDE

    def vital(self, path: str) -> str:
        """What vital place a path means (``/``, a home, a system folder, a mount), or nothing."""
        if glob := _GLOB.search(path):
            head, _, tail = path.rpartition("/")
            if _everything(tail):
                return self.vital(head or "/")
            parts, sure = path.split("/"), path[: glob.start()]
            for place in (*_VITAL, self.home, "/home/x", "/Users/x"):
                if not place.startswith(sure):
                    continue
                names = place.split("/")
                if len(names) == len(parts) and all(map(fnmatchcase, names, parts)):
                    return place
            return ""
        if path in _VITAL or path == self.home or self.home.startswith(f"{path}/") or _HOMES.fullmatch(path):
            return path
        return ""

    def is_mount(self, path: str) -> bool:
        """Whether something is mounted at a path of this machine."""
        if _ANY.search(path) or _GLOB.search(path):
            return False
        known = self._mounts.get(path)
        if known is None:
            known = self._mounts[path] = os.path.ismount(path)
        return known

    # --- what the disk said, so that it need not be asked twice -----------------------------------------------------

    def look_afresh(self) -> "_Looked":
        """Forget what the disk said, to see what is asked from now on; gives what to hand to ``look_as_before``."""
        before = self._links, self._mounts, self._zones
        self._links, self._mounts, self._zones = {}, {}, {}
        return before

    def look_as_before(self, before: "_Looked") -> None:
        """Know again what the disk said before, and since."""
        self._links |= before[0]
        self._mounts |= before[1]
        self._zones |= before[2]

    def looked_at(self) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
        """Paths that turned out to be no links, and no mounts; None when one was."""
        if any(self._links.values()) or any(self._mounts.values()):
            return None, ()
        return tuple(self._links), tuple(self._mounts)

    def still_plain(self, links: Iterable[str], mounts: Iterable[str]) -> bool:
        """Whether paths are still no links, and no mounts."""
        known = self._links
        for path in links:
            if known.get(path) is not False and self._is_link(path):
                return False
        return not (mounts and any(map(self.is_mount, mounts)))

    def _is_guarded(self, path: str, whole: bool) -> bool:
        for guard in self.guarded:
            if path == guard or path.startswith(f"{guard}/") or (whole and guard.startswith(f"{path}/")):
                return True
        if self.guarded and (glob := _GLOB.search(path)):
            sure = path[: glob.start()]
            near = (guard for guard in self.guarded if guard.startswith(sure) or sure.startswith(guard))
            return any(_may_match(path, guard, whole) for guard in near)
        return False

    def keeps_guarded(self, path: str) -> bool:
        """Whether guarded files lie right in a folder."""
        folder = os.path.normpath(path)
        return any(os.path.dirname(guard) == folder for guard in self.guarded)  # noqa: PTH120

    def real(self, path: str) -> str:
        """Where a path leads on this machine."""
        return os.path.realpath(path) if self._linked(path) else normal(path)

    def vital_file(self, path: str) -> bool:
        """Whether a path names a single file that the machine cannot do without, as written or behind links."""
        return any(map(_VITAL_FILE.fullmatch, (normal(path), self.real(path))))

    def _linked(self, path: str) -> bool:
        """Whether a part of the path is a link on this machine."""
        if len(path) > 4096 or not path.startswith("/"):
            return False
        start = len(self.root) if self._inside and path.startswith(self._inside) else 0
        parts, at = path[start:].split("/"), path[:start]
        for part in parts:
            if not part or part == ".":
                continue
            at = f"{at}/{part}"
            if self._is_link(at):
                return True
        return False

    def _is_link(self, path: str) -> bool:
        known = self._links.get(path)
        if known is None:
            known = self._links[path] = os.path.islink(path)  # noqa: PTH114 - it is asked very often
        return known


_ORDER = list(Zone)
_BEGINS_ALL = tuple("*?.![^")
_FRESH = 2.0  # seconds for which it is not asked again where guarded files really are


@lru_cache(maxsize=4)
def _guarded(paths: tuple[str, ...], _now: int) -> tuple[tuple[str, ...], re.Pattern[str] | None]:
    """Guarded paths as written and as they really are, and a pattern that finds their names in a text."""
    real = tuple(dict.fromkeys(p for path in paths for p in (os.path.normpath(path), os.path.realpath(path))))
    names = {n for p in map(Path, real) for n in (p.name, p.parent.name) if n}
    return real, re.compile("|".join(map(re.escape, sorted(names)))) if names else None


def normal(path: str) -> str:
    """A path without detours. Two slashes at its beginning mean what one does."""
    plain = os.path.normpath(path)
    return plain[1:] if plain.startswith("//") else plain


def _everything(name: str) -> bool:
    """Whether a pattern stands for all there is in a folder."""
    return name[:1] in _BEGINS_ALL and not re.sub(r"\[[^\]]*\]", "", name).strip("*?.!^")


def _hides_git(rest: str) -> bool:
    return rest.startswith(".") and fnmatchcase(".git", rest.partition("/")[0])


def _may_match(pattern: str, guard: str, whole: bool) -> bool:
    wanted, names = pattern.split("/"), guard.split("/")
    if len(wanted) > len(names):
        wanted = wanted[: len(names)]
    elif len(wanted) < len(names):
        if not whole:
            return False
        names = names[: len(wanted)]
    return all(map(fnmatchcase, names, wanted))


def emptied(text: str) -> str:
    """A text in which what is not known is taken to be empty."""
    return _ANY.sub("", text)
