"""Credentials and files of Hermes that a command names, whatever it does with them."""

import re
from typing import TYPE_CHECKING

from hermes_tool_guard.escapes import Glob
from hermes_tool_guard.judgement import Class
from hermes_tool_guard.places import Zone, credential_name
from hermes_tool_guard.scene import shown

if TYPE_CHECKING:
    from hermes_tool_guard.run import Run

__all__ = ["ENV_EXAMPLE", "ENV_FILE", "NAMERS", "mentions", "only_names"]

_HINT = re.compile(
    r"\.(?:ssh|aws|gnupg|az|kube|pass|moz|thunder|elec|bit|eth|oci|boto|s3|net|pg|my|git-|np|yarn|pypi"
    r"|docker|vault|ht"
    r"|[a-z_]*hist|local|config|cargo|gem|terra|m2|grad|env|pem|p12|pfx|kdb|jks|key|ppk|gpg|asc)|id_"
    r"|[Cc]redential|secret"
    r"|_rsa|_ed25519|wallet|Keychains|Login|logins|key4|[Cc]ookies|shadow|sudoers|/ssl/|opasswd"
    r"|/etc/ssh|openvpn|wireguard"
    r"|/proc/|/run/|kube|/var/lib/"
)
_AT = re.compile(r"(?<=.)[=@:,]")
_CERTIFICATE = re.compile(r"(?i)(?!.*(?:key|priv|id_)).*\.(?:pem|crt|cer)")


NAMERS = frozenset(
    {"ls", "stat", "find", "fd", "fdfind", "tree", "du", "touch", "test", "file", "basename", "dirname", "realpath"}
    | {"readlink", "exa", "eza", "lsd"}
)
ENV_EXAMPLE = re.compile(
    r"(?:.*/)?\.?env[\w.]*\.(?:example|sample|template|dist|defaults|tpl)|(?:.*/)?(?:example|sample)\.env"
)
ENV_FILE = re.compile(r"(?:\./)?(?:[\w-]+/)*\.env(?:\.\w+)*")
_SEARCHES = frozenset({"grep", "egrep", "fgrep", "rg", "ag", "ack", "ripgrep"})
_DOES = frozenset(
    {"-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprintf", "-fls", "-x", "-X", "--exec"}
    | {"--exec-batch"}
)


def only_names(one: "Run") -> bool:
    """Whether it looks at no secret although it names what may hold one: names of files, git's index, a certificate."""
    args = one.args
    if one.name in NAMERS:
        return not _DOES.intersection(args) and all(w[:1] not in "/~\0\1" and ".." not in w for w in args)
    if one.name == "cp" and len(args) >= 2:
        *_, source, target = args
        return bool(ENV_EXAMPLE.fullmatch(source) and ENV_FILE.fullmatch(target)) and all(
            a[:1] == "-" for a in args[:-2]
        )
    if one.name in _SEARCHES:
        return _searched(one)
    if one.name == "git":
        return args[:1] in (["check-ignore"], ["ls-files"]) or (args[:1] == ["rm"] and "--cached" in args)
    if one.name != "openssl" or args[:1] not in (["x509"], ["verify"], ["crl"], ["req"]):
        return False
    return "-key" not in args and all(a[:1] == "-" or _CERTIFICATE.fullmatch(a) for a in args[1:])


def _searched(one: "Run") -> bool:
    """A search whose pattern is a plain word, in places that hold no secrets by their names."""
    operands = [a for a in one.args if a[:1] != "-"]
    pattern = operands[0] if operands else ""
    others = "\n".join(a for a in one.args if a != pattern)
    own = one.scene.places.guarded_name
    plain = re.fullmatch(r"[\w |\\.()*+?\[\]^$:=-]*", pattern) and not pattern.startswith((".", "id_"))
    return bool(plain) and not _HINT.search(others) and not (own and own.search(others)) and type(pattern) is not Glob


def mentions(one: "Run") -> None:
    """Credentials and files of Hermes named anywhere in the arguments, whatever the program does with them."""
    together = "\n".join(one.args)
    own = one.scene.places.guarded_name
    globs = Glob in map(type, one.args)
    if not globs and not _HINT.search(together) and not (own and own.search(together)):
        return
    for word in one.args:
        if len(word) > 4096:
            continue
        for part in filter(None, dict.fromkeys((*_AT.split(word), word))):  # in order: the reason is always the same
            if (" " in part and not part.startswith("/")) or "\n" in part:
                continue
            for path, zone in one._zones(part):
                if zone is Zone.GUARDED:
                    one.deny(Class.HERMES, f"names {shown(part)}, which belongs to Hermes itself")
                elif zone is Zone.CREDENTIAL and credential_name(path):
                    one.ask(Class.CREDENTIALS, f"touches {shown(part)}, which may hold credentials")
