"""The rules, read from ``rules.toml`` and ``tongues.toml`` when something is scanned for the first time."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from hermes_core.values import frozen
from hermes_tool_skills.scan import Level
from hermes_tool_skills.scan.mentions import only_mentioned
from hermes_tool_skills.scan.text import flowing

CATEGORIES = (
    "exfiltration", "injection", "obfuscation", "persistence", "supply_chain", "network",
    "destructive", "execution", "credential_exposure", "traversal", "privilege_escalation", "mining",
)  # fmt: skip
_MOST_HITS = 30  # of one rule in one text that are looked at, where the first are only spoken of
_FILES = ("rules.toml", "tongues.toml")
_COMMENT = re.compile(r"<!--(.{1,4000}?)-->", re.DOTALL)


@frozen(kw_only=True)
class Rule:
    """One pattern, why it matters, and lines that it must and must not match."""

    id: str
    level: Level
    why: str
    pattern: "re.Pattern[str]"
    flow: bool  # looked for in running text, where line ends are spaces
    inside: str  # "comment": only what stands in one
    hit: Sequence[str]
    miss: Sequence[str]

    def search(self, text: str, flowed: str) -> "re.Match[str] | None":
        """The first hit in a text; ``flowed`` is the same text, running."""
        return next(self._hits(text, flowed), None)

    def found(self, text: str, flowed: str, *, prose: bool) -> "tuple[re.Match[str] | None, bool]":
        """The first hit that is meant, and True; else the first that is only spoken of, and False."""
        first = None
        for hit in islice(self._hits(text, flowed), _MOST_HITS):
            quoted = hit.start() + hit[0].rfind("`") + 1  # of several pieces of code in a sentence the last counts
            places = (hit.start(), quoted)
            if self.inside or not prose or not any(only_mentioned(hit.string, at, told=self.flow) for at in places):
                return hit, True
            first = first or hit
        return first, False

    def _hits(self, text: str, flowed: str) -> "Iterator[re.Match[str]]":
        if self.inside != "comment":
            return self.pattern.finditer(flowed if self.flow else text)
        comments = (self.pattern.search(flowing(found[1])) for found in _COMMENT.finditer(text))
        return (hit for hit in comments if hit)


@cache
def load_rules() -> tuple[Rule, ...]:
    """All rules, compiled."""
    words: dict[str, str] = {}
    rows: list[Mapping[str, Any]] = []
    for file in _FILES:
        data = tomllib.loads(Path(__file__).with_name(file).read_text(encoding="utf-8"))
        for name, pattern in data["words"].items():
            words[name] = _filled(pattern, words)
        rows += data["rule"]
    return tuple(
        Rule(
            id=row["id"],
            level=row["level"],
            why=row["why"],
            pattern=re.compile(_filled(row["pattern"], words), re.IGNORECASE | re.MULTILINE),
            flow=row.get("flow", False),
            inside=row.get("inside", ""),
            hit=row["hit"],
            miss=row["miss"],
        )
        for row in rows
    )


def _filled(pattern: str, words: dict[str, str]) -> str:
    for name, value in words.items():
        pattern = pattern.replace(f"{{{name}}}", value)
    return pattern
