"""The rules, read from ``rules.toml`` when something is scanned for the first time."""

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from hermes_core.values import frozen
from hermes_tool_skills.scan import Level
from hermes_tool_skills.scan.text import flowing

CATEGORIES = (
    "exfiltration", "injection", "obfuscation", "persistence", "supply_chain", "network",
    "destructive", "execution", "credential_exposure", "traversal", "privilege_escalation", "mining",
)  # fmt: skip
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
        if self.inside != "comment":
            return self.pattern.search(flowed if self.flow else text)
        comments = (self.pattern.search(flowing(found[1])) for found in _COMMENT.finditer(text))
        return next((hit for hit in comments if hit), None)


@cache
def load_rules() -> tuple[Rule, ...]:
    """All rules, compiled."""
    data = tomllib.loads(Path(__file__).with_name("rules.toml").read_text(encoding="utf-8"))
    words: dict[str, str] = {}
    for name, pattern in data["words"].items():
        words[name] = _filled(pattern, words)
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
        for row in data["rule"]
    )


def _filled(pattern: str, words: dict[str, str]) -> str:
    for name, value in words.items():
        pattern = pattern.replace(f"{{{name}}}", value)
    return pattern
