"""Forges are not open by themselves: everybody may write there. These are the hosts that a person pointed to."""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files

from hermes_backend_wall.proxy.rules import Rule
from hermes_core.errors import UserError

__all__ = ["hosts_in", "hosts_named", "is_forge"]

_SECTION = re.compile(r"\s*\[\s*([^\s\"\]]+)(?:\s+\"(?:[^\"\\]|\\.)*\")?\s*\]")
_URL_KEY = re.compile(r"\s*(?:push)?url\s*=\s*\"?([^\"\s#;]+)", re.IGNORECASE)
_WITH_SCHEME = re.compile(
    r"(?i)\b(?:https?|ssh|git(?:\+ssh)?)://(?:[^\s/@<>\"']*@)?(\[[0-9a-f:.]+\]|[^\s/:@?#<>\"'`()\[\],;]+)(?::(\d{1,5}))?"
)
_LIKE_SCP = re.compile(r"(?<![\w./:@-])[\w.-]+@([A-Za-z0-9.-]+):(?!//)[\w~./-]")


@cache
def _forges() -> Mapping[str, Sequence[str]]:
    return tomllib.loads(files(__package__).joinpath("forges.toml").read_text("utf-8"))


def is_forge(host: str) -> bool:
    """Whether a host is one of the forges that are known, or keeps things for one."""
    return host in _forges() or any(host in companions for companions in _forges().values())


def hosts_in(configuration: str, source: str) -> list[Rule]:
    """The hosts of the remotes that a configuration of git names, as ``.git/config`` holds it.

    What it says is only as good as the folder: whoever packed it wrote it.
    """
    section, found = "", []
    for line in configuration.splitlines():
        header = _SECTION.match(line)
        section = header[1].lower() if header else section
        setting = _URL_KEY.match(line, header.end() if header else 0)
        if setting and section == "remote":
            found += _places(setting[1])
    return _rules(found, source)


def hosts_named(words: str) -> list[Rule]:
    """The hosts that a person's own words name: by an address, as ``git@host:path``, or ``github.com/…`` of a forge.

    Other bare words with dots are no hosts: ``setup.py`` and ``README.md`` would be.
    """
    bare = "|".join(map(re.escape, _forges()))
    found = _places(words)
    found += [(name.lower(), None) for name in re.findall(rf"(?i)(?<![\w./@:-])({bare})(?=[/\s,;:)]|\.?$)", words)]
    return _rules(found, "your words")


def _places(text: str) -> list[tuple[str, int | None]]:
    found: list[tuple[str, int | None]] = []
    for match in _WITH_SCHEME.finditer(text):
        web = match[0].lower().startswith("http")
        found.append((match[1].rstrip("."), int(match[2]) if match[2] and web else None))
    return found + [(host, None) for host in _LIKE_SCP.findall(text)]


def _rules(places: Iterable[tuple[str, int | None]], source: str) -> list[Rule]:
    rules: dict[Rule, None] = {}
    for host, port in places:
        try:
            rule = Rule.read(f"{host}:{port}" if port else host, source=source)
        except UserError:
            continue  # no host of the net: a word with colons, a name that has two readings
        rules[rule] = None
        for companion in _forges().get(rule.host, ()):
            rules[Rule.read(companion, source=source)] = None
    return list(rules)
