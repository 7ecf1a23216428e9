"""Which URLs a tool may open, and which addresses a connection may go to. ``fetching.fetch`` holds to it.

A model writes URLs, and pages that it reads tell it which. So a URL is read in one strict way, whatever a browser
would make of it, and what has a second reading is refused with the spelling that has only one. Its name is resolved
once, every address is judged, and the connection goes to a judged address: a name that answers differently the next
time gains nothing.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from hermes_core.context import UrlRules
from hermes_core.errors import OutOfReach

if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

    Address = IPv4Address | IPv6Address

__all__ = ["CheckedUrl", "addresses_of", "check_url", "refused_address", "resolve", "resolve_with_system"]

LONGEST = 8_192  # characters of a URL
MOST_ADDRESSES = 32  # of one name
_DEFAULT_PORTS = {"http": 80, "https": 443}
# Ports of other services. HTTP sent there may be taken for a command; browsers refuse the same list.
_BAD_PORTS = (
    " 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 "
    "123 135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 "
    "990 993 995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6379 6566 6665 6666 6667 6668 6669 6679 6697 "
    "10080 11211 "
)
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_METADATA_NAMES = (
    " metadata metadata.google.internal metadata.goog metadata.azure.internal metadata.azure.com instance-data "
    "instance-data.ec2.internal metadata.tencentyun.com metadata.oraclecloud.com metadata.platformequinix.com "
    "metadata.packet.net "
)
_LOCAL_NAMES = (
    "localhost",
    "local",
    "internal",
    "localdomain",
    "lan",
    "intranet",
    "corp",
    "home",
    "private",
    "home.arpa",
)

# Where a cloud tells its machines their keys: closed even where private addresses are open.
_METADATA = "169.254.0.0/16 100.100.100.200 192.0.0.192 168.63.129.16 fd00:ec2::/32 fd20:ce::254"
# Open with allow_private_urls.
_PRIVATE = {
    "loopback": "127.0.0.0/8 ::1",
    "private": "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7 fec0::/10",
    "shared by a carrier's customers": "100.64.0.0/10",
    "a benchmark network": "198.18.0.0/15",
    "for documentation": "192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 2001:db8::/32 3fff::/20",
}
# Nobody's web site is there.
_NEVER = {
    "unspecified": "0.0.0.0/8 ::",
    "link-local": "fe80::/10",
    "multicast": "224.0.0.0/4 ff00::/8",
    "reserved": "192.0.0.0/24 192.88.99.0/24 240.0.0.0/4 2001::/23",
}
_CARRIERS = "::ffff:0:0/96 64:ff9b::/96 ::/96 ::ffff:0:0:0/96"  # their last 32 bits are an IPv4 address
_TUNNELS = "2002::/16 2001::/32 64:ff9b:1::/48"  # 6to4, Teredo, a translator's own network
_PUBLIC_V6 = "2000::/3"


class CheckedUrl(NamedTuple):
    """A URL taken apart: ``host`` in ASCII and lower case without brackets, ``path`` with its query as it is sent."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """Host and port as a ``Host`` header says them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The URL in the one spelling it has left."""
        return f"{self.scheme}://{self.authority}{self.path}"


def check_url(url: str, rules: UrlRules) -> CheckedUrl:
    """Read a URL and apply every rule that needs no network. Raises OutOfReach."""
    if not url or len(url) > LONGEST:
        raise _refused(url, "it is empty" if not url else f"it has more than {LONGEST:,} characters")
    _check_characters(url)
    parts = re.fullmatch(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):(?://(?P<authority>[^/?#]*)(?P<rest>.*))?", url)
    scheme = parts["scheme"].lower() if parts else ""
    if not parts or parts["authority"] is None:
        known = scheme in _DEFAULT_PORTS
        raise _refused(url, "its scheme is followed by two slashes" if known else "it does not begin with https://")
    if scheme not in _DEFAULT_PORTS:
        raise _refused(url, f"its scheme is {scheme!r}; only http and https are opened")
    host, port = _host_and_port(url, parts["authority"], scheme)
    target = CheckedUrl(scheme, host, port, _path(parts["rest"]))
    _check_host(target, rules)
    if rules.is_secret and _holds_secret(rules.is_secret, url, target):
        raise OutOfReach(
            f"The URL at {target.host} was not opened: it carries a secret of this machine.",
            hint="Secrets are never put into URLs. Leave it out.",
        )
    return target


def _check_characters(url: str) -> None:
    import unicodedata

    for character in url:
        if character <= " " or "\x7f" <= character <= "\xa0":
            raise _refused(url, f"it holds {character!a}; a space in a URL is %20")
        if character == "\\":
            raise _refused(url, "it holds a backslash; some programs read it as a slash")
        if character > "\x7f" and unicodedata.category(character)[0] in "CZ":
            raise _refused(url, f"it holds the invisible character {character!a}")


def _host_and_port(url: str, authority: str, scheme: str) -> tuple[str, int]:
    if "@" in authority:
        raise _refused(url, "it holds a name or password before an @, which hides the real host behind it")
    if "%" in authority:
        raise _refused(url, "its host is percent-encoded or has a zone")
    match = re.fullmatch(r"(?:\[(?P<v6>[^\[\]]*)\]|(?P<name>[^:\[\]]*))(?::(?P<port>.*))?", authority)
    if not match:
        raise _refused(url, "its host cannot be told from its port; an IPv6 address stands in brackets")
    written = match["port"]
    if written is not None and not re.fullmatch(r"[1-9][0-9]{0,4}", written):
        raise _refused(url, f"{written!r} is no port" if written else "its port is empty")
    port = int(written) if written else _DEFAULT_PORTS[scheme]
    if port > 65_535 or f" {port} " in _BAD_PORTS:
        raise _refused(url, f"port {port} is not one of a web server")
    if match["v6"] is not None:
        return _ipv6(url, match["v6"]), port
    return _name(url, match["name"]), port


def _ipv6(url: str, text: str) -> str:
    from ipaddress import IPv6Address

    try:
        address = IPv6Address(text)
        return str(address.ipv4_mapped or address)
    except ValueError:
        raise _refused(url, "what stands in brackets is no IPv6 address") from None


def _name(url: str, name: str) -> str:
    """A host name in ASCII, or an IPv4 address in its usual form."""
    host = name.lower() if name.isascii() else _ascii(url, name)
    host = host.removesuffix(".")
    if not host:
        raise _refused(url, "it names no host")
    if re.fullmatch(r"(.*\.)?(\d+|0x[0-9a-f]*)", host):  # the resolver would take it for an address
        if not re.fullmatch(r"(?:(?:0|[1-9]\d{0,2})(?:\.(?!$)|$)){4}", host):
            raise _refused(url, "its host is an unusual spelling of an IPv4 address; write four plain numbers")
        if any(int(number) > 255 for number in host.split(".")):
            raise _refused(url, "its host is no IPv4 address: a number is above 255")
        return host
    if len(host) > 253 or not re.fullmatch(rf"{_LABEL}(?:\.{_LABEL})*", host):
        raise _refused(url, "its host is no name: letters, digits, hyphens and single dots, 63 in a part, 253 in all")
    return host


def _ascii(url: str, name: str) -> str:
    import unicodedata

    plain = unicodedata.normalize("NFKC", name) == name and name.casefold() == name.lower()
    if not plain or "\u3002" in name:  # the ideographic full stop
        raise _refused(url, "its host is written with look-alike characters; write it in plain ones or as xn--…")
    try:
        return name.encode("idna").decode("ascii").lower()
    except UnicodeError:
        raise _refused(url, "its host is no name in any language") from None


def _path(rest: str) -> str:
    from urllib.parse import quote

    before = rest.partition("#")[0]
    path = before if before.startswith("/") else f"/{before}"
    return quote(path, safe="/?%:@!$&'()*+,;=~-._[]")


def _check_host(target: CheckedUrl, rules: UrlRules) -> None:
    from ipaddress import ip_address

    url, host = target.url, target.host
    if f" {host} " in _METADATA_NAMES:
        raise _refused(url, f"{host} is where a cloud keeps its machines' keys")
    try:
        address = ip_address(host)
    except ValueError:
        local = "." not in host or any(host == name or host.endswith(f".{name}") for name in _LOCAL_NAMES)
        if local and not rules.allow_private:
            raise _refused(url, f"{host} is a name inside a network", private=True) from None
    else:
        if reason := refused_address(address, allow_private=rules.allow_private):
            raise _refused(url, f"{host} {reason}", private=not refused_address(address, allow_private=True))
    for pattern in rules.blocked:
        if _blocks(pattern, target):
            raise OutOfReach(
                f"{target.host} was not opened: {pattern!r} in security.blocked_sites forbids it.",
                hint="The person has closed this site. Do without it.",
            )


def _blocks(pattern: str, target: CheckedUrl) -> bool:
    from fnmatch import fnmatchcase
    from urllib.parse import unquote

    bare = re.sub(r"^https?://", "", pattern.strip().lower())
    host, slash, path = bare.partition("/")
    same = fnmatchcase(target.host, host) or (not re.search(r"[*?\[]", host) and target.host.endswith(f".{host}"))
    if not (host and same) or not path:
        return bool(host) and same
    asked = re.sub(r"/(\./|/)+|/[^/]+/\.\./", "/", unquote(target.path).lower())
    return fnmatchcase(asked, slash + path) or fnmatchcase(asked.partition("?")[0], slash + path)


def _holds_secret(is_secret: Callable[[str], bool], url: str, target: CheckedUrl) -> bool:
    from urllib.parse import unquote, unquote_plus

    whole = f"{target.host}{target.path}"
    return any(is_secret(text) for text in {url, whole, unquote(whole), unquote_plus(whole), unquote(unquote(whole))})


def refused_address(address: "Address", *, allow_private: bool = False) -> str:
    """Why nothing is sent to an address (``is private``), or an empty string. Looks inside IPv6 forms of IPv4 ones."""
    if address.version == 6:
        if inner := _carried(address):
            return refused_address(inner, allow_private=allow_private)
        if _within(address, _TUNNELS):
            return "leads through a tunnel"
    if _within(address, _METADATA):
        return "is where a cloud keeps its machines' keys, or link-local"
    for kind, networks in _NEVER.items():
        if _within(address, networks):
            return f"is {kind}"
    for kind, networks in _PRIVATE.items():
        if _within(address, networks):
            return "" if allow_private else f"is {kind}"
    if address.version == 6 and not _within(address, _PUBLIC_V6):
        return "is reserved"
    return ""


def _carried(address: "IPv6Address") -> "IPv4Address | None":
    from ipaddress import IPv4Address

    number = int(address)
    if number <= 1:  # :: and ::1 are addresses of their own
        return None
    if _within(address, _CARRIERS):
        return IPv4Address(number & 0xFFFFFFFF)
    if (number >> 32) & 0xFDFFFFFF == 0x5EFE:  # ISATAP: the lower half is 0[2]00:5efe and an IPv4 address
        return IPv4Address(number & 0xFFFFFFFF)
    return None


def _within(address: "Address", networks: str) -> bool:
    return any(network.version == address.version and address in network for network in _networks(networks))


@cache
def _networks(text: str) -> "tuple[IPv4Network | IPv6Network, ...]":
    from ipaddress import ip_network

    return tuple(map(ip_network, text.split()))


async def resolve(target: CheckedUrl, rules: UrlRules) -> Sequence[str]:
    """The addresses a connection to a target may go to, as text. The name is resolved once.

    One forbidden address among them refuses them all: such an answer is how a name is made to lead inside.
    Raises OutOfReach, also when the name has no address.
    """
    from ipaddress import ip_address

    try:
        return [str(ip_address(target.host))]  # check_url has judged it
    except ValueError:
        pass
    try:
        found = await (rules.lookup or resolve_with_system)(target.host, target.port)
    except (OSError, UnicodeError) as error:
        text = getattr(error, "strerror", None) or str(error)
        raise OutOfReach(f"{target.host} was not opened: its name cannot be resolved ({text}).") from error
    return addresses_of(target, found, rules)


def addresses_of(target: CheckedUrl, found: Sequence[str], rules: UrlRules) -> Sequence[str]:
    """What a resolver answered, judged. Raises OutOfReach."""
    from ipaddress import ip_address

    judged: list[str] = []
    for text in list(dict.fromkeys(found))[:MOST_ADDRESSES]:
        try:
            address = ip_address(text.partition("%")[0])
        except ValueError:
            raise _refused(target.url, f"its name leads to {text!r}, which is no address") from None
        if reason := refused_address(address, allow_private=rules.allow_private):
            open_to = not refused_address(address, allow_private=True)
            raise _refused(target.url, f"its name leads to {text}, which {reason}", private=open_to)
        judged.append(str(address))
    if not judged:
        raise _refused(target.url, "its name has no address")
    return judged


async def resolve_with_system(host: str, port: int) -> Sequence[str]:
    """The addresses of a name by this machine's resolver. Raises OSError."""
    import asyncio
    import socket

    rows = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(row[4][0]) for row in rows]


def _refused(url: str, reason: str, *, private: bool = False) -> OutOfReach:
    shown = url if len(url) <= 200 else f"{url[:200]}…"
    hint = "A person may open private addresses with security.allow_private_urls." if private else ""
    return OutOfReach(f"{ascii(shown)[1:-1]} was not opened: {reason}.", hint=hint)
