"""What speaks against a skill: words, shapes and structure. It is help, not a wall: meaning is not understood here.

What a skill may make the agent do is decided by the policy, call by call, whatever the scan found.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from hermes_core.values import frozen
from hermes_tool_skills.tree import MAIN, Tree, text_of, visible

Level: TypeAlias = Literal["note", "caution", "dangerous"]
VerdictName: TypeAlias = Literal["safe", "caution", "dangerous"]
_WEIGHT: dict[str, int] = {"note": 0, "caution": 1, "dangerous": 2}
_MOST_TEXT = 150_000  # characters of one file that rules look at
_MOST_FINDINGS = 200
VERSION = 1  # of the rules; part of the key under which verdicts are cached


@frozen(kw_only=True)
class Finding:
    """One thing that speaks against a skill. ``line`` is 0 where the whole file is meant."""

    rule: str
    level: Level
    why: str
    path: str = ""
    line: int = 0
    text: str = ""

    @property
    def category(self) -> str:
        """The first word of the rule's id."""
        return self.rule.partition("-")[0]


@frozen(kw_only=True)
class Report:
    """Everything that was found, the worst first."""

    findings: Sequence[Finding] = ()

    @property
    def verdict(self) -> VerdictName:
        """``dangerous`` or ``caution`` when one finding is, else ``safe``."""
        worst = max((_WEIGHT[f.level] for f in self.findings), default=0)
        return ("safe", "caution", "dangerous")[worst]


def scan(tree: Tree, known: Iterable[str] = ()) -> Report:
    """Look at every file of a skill. ``known`` are names of other skills, which a new one must not imitate."""
    from hermes_tool_skills.scan.packages import imitations
    from hermes_tool_skills.scan.structure import of_file, of_tree

    found: list[Finding] = [*of_tree(tree, known)]
    for path in sorted(tree):
        found += of_file(path, tree[path])
        if (text := text_of(tree[path])) is not None:
            found += imitations(path, text)
            found += scan_text(text, path)
            if len(text) > _MOST_TEXT:
                why = f"it is too long to be looked at whole; only the first {_MOST_TEXT:,} characters were"
                found.append(Finding(rule="structure-unread", level="caution", why=why, path=path))
    once = {(f.rule, f.path, f.line): f for f in found}
    ordered = sorted(once.values(), key=lambda f: (-_WEIGHT[f.level], f.path != MAIN, f.path, f.line, f.rule))
    return Report(findings=tuple(ordered[:_MOST_FINDINGS]))


def scan_text(text: str, path: str = "") -> tuple[Finding, ...]:
    """What the rules find in one text, each rule once."""
    from hermes_tool_skills.scan.rules import load_rules
    from hermes_tool_skills.scan.text import flowing, versions

    found: dict[str, Finding] = {}
    for how, version in versions(text[:_MOST_TEXT]):
        flowed = flowing(version)
        for rule in load_rules():
            if rule.id in found or not (hit := rule.search(version, flowed)):
                continue
            line = 0 if how != "as it is" else _line(text, version, hit.start(), hit[0], flowed=rule.flow)
            why = rule.why if how == "as it is" else f"{rule.why} ({how})"
            shown = visible(" ".join(hit[0].split()))[:120]
            found[rule.id] = Finding(rule=rule.id, level=rule.level, why=why, path=path, line=line, text=shown)
    return tuple(found.values())


def _line(text: str, version: str, start: int, hit: str, *, flowed: bool) -> int:
    """The line a hit is in, as nearly as can be said."""
    if not flowed:
        return version.count("\n", 0, start) + 1 if version.count("\n") == text.count("\n") else 0
    first = " ".join(hit.split()[:3])
    return next((n for n, line in enumerate(text.splitlines(), 1) if first in " ".join(line.split())), 0)
