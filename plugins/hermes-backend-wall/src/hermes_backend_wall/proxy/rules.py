"""Which hosts are open: rules are host names or ``*.example.org``, with a port or without, and read in one way."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from hermes_core.context import UrlRules
from hermes_core.errors import OutOfReach, UserError
from hermes_tool_kit.addresses import CheckedUrl, check_url

__all__ = ["Rule", "Rules", "is_literal", "read_authority"]

_WEB = (80, 443)  # what a rule without a port opens
_AUTHORITY = re.compile(r"(?:\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,254}):[1-9][0-9]{0,4}")
_RULE = re.compile(r"(?P<below>\*\.)?(?P<host>\[[^\[\]]*\]|[^:\[\]/?#@*\s]+)(?::(?P<port>[1-9][0-9]{0,4}))?")


class Rule(NamedTuple):
    """An open host. ``host`` is in ASCII and lower case; ``below`` means the names under it and not the host itself.

    ``port`` None opens those of the web. ``private`` lets the name lead into the person's own network. ``source`` says
    whose word it is (``pypi``, ``~/.npmrc``).
    """

    host: str
    port: int | None = None
    below: bool = False
    private: bool = False
    source: str = ""

    @classmethod
    def read(cls, text: str, *, private: bool = False, source: str = "") -> "Rule":
        """A rule as a person writes it: ``example.org``, ``*.example.org``, ``example.org:8443``. Raises UserError."""
        match = _RULE.fullmatch(text.strip())
        if not match:
            raise UserError(f"{text!r} names no host.", hint="Write example.org, *.example.org or example.org:8443.")
        try:
            host = check_url(f"https://{match['host']}:{match['port'] or 443}/", UrlRules(allow_private=True)).host
        except OutOfReach as error:
            raise UserError(f"{text!r} cannot be opened: {error.text}", hint=error.hint) from error
        if match["below"] and ("." not in host or is_literal(host)):
            raise UserError(f"{text!r} is too wide.", hint="Write at least two parts behind the star: *.example.org.")
        return cls(host, int(match["port"]) if match["port"] else None, bool(match["below"]), private, source)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'*.' if self.below else ''}{host}{f':{self.port}' if self.port else ''}"


class Rules:
    """Rules, found by host and port."""

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self._by_name: dict[tuple[str, bool], list[Rule]] = {}
        for rule in rules:
            self._by_name.setdefault((rule.host, rule.below), []).append(rule)

    def find(self, host: str, port: int) -> Rule | None:
        """The rule that opens a host, one that may lead into the person's network before others; None without."""
        places = [(host, False)]
        if not is_literal(host):
            places += [(host[dot.end() :], True) for dot in re.finditer(r"\.", host)]
        found = [rule for place in places for rule in self._by_name.get(place, ()) if _opens(rule, port)]
        return max(found, key=lambda rule: rule.private, default=None)


def _opens(rule: Rule, port: int) -> bool:
    return port in _WEB if rule.port is None else rule.port == port


def is_literal(host: str) -> bool:
    """Whether a host, as ``check_url`` gives it, is an address and no name."""
    return ":" in host or host.rpartition(".")[2].isdigit()


def read_authority(text: str, scheme: str = "https") -> CheckedUrl:
    """``host:port`` of a request, the port written out, in ASCII. Raises OutOfReach for what has a second reading."""
    if not _AUTHORITY.fullmatch(text):
        raise OutOfReach(f"{text[:200]!a} is no host and port.")
    return check_url(f"{scheme}://{text}/", UrlRules(allow_private=True))
