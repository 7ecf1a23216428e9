"""What speaks against a skill: words, shapes and structure. It is help, not a wall: meaning is not understood here.

What a skill's scripts can do is bounded by the wall of the backend that runs them, and what it makes the agent do by
the policy, call by call, whatever the scan found.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

from attrs import evolve

from hermes_core.values import frozen
from hermes_tool_skills.tree import MAIN, Tree, text_of, visible

Level: TypeAlias = Literal["note", "caution", "dangerous"]
VerdictName: TypeAlias = Literal["safe", "caution", "dangerous"]
_WEIGHT: dict[str, int] = {"note": 0, "caution": 1, "dangerous": 2}
_MOST_TEXT = 3_000_000  # characters of a whole skill that rules look at
_PIECE, _OVERLAP = 150_000, 2_000  # characters that are looked at in one go, and again with the next
_PROSE = (".md", ".mdx", ".txt", ".rst", ".html")
_MOST_FINDINGS = 200
VERSION = 6  # of the rules; part of the key under which verdicts are cached


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
    from hermes_tool_skills.scan.structure import of_tree

    found: list[Finding] = [*of_tree(tree, known)]
    left = _MOST_TEXT
    for path in sorted(tree, key=lambda path: (path != MAIN, path)):
        more, left = _of_path(path, tree[path], left)
        found += more
    once = {(f.rule, f.path, f.line): f for f in found}
    ordered = sorted(once.values(), key=lambda f: (-_WEIGHT[f.level], f.path != MAIN, f.path, f.line, f.rule))
    return Report(findings=tuple(ordered[:_MOST_FINDINGS]))


def _of_path(path: str, data: bytes, left: int) -> tuple[list[Finding], int]:
    """What one file gives, and the files in it where it is an archive; with how much text may be looked at yet."""
    from hermes_tool_skills.scan.packages import imitations
    from hermes_tool_skills.scan.structure import inside, of_file

    found = list(of_file(path, data))
    for inner, content in inside(path, data):
        more, left = _of_path(f"{path}/{inner}", content, left)
        found += more
    if (text := text_of(data)) is None:
        return found, left
    found += imitations(path, text)
    found += scan_text(text[:left], path)
    if len(text) > left:
        why = f"there is too much text to look at all of it; only the first {_MOST_TEXT:,} characters were"
        found.append(Finding(rule="structure-unread", level="caution", why=why, path=path))
    return found, max(0, left - len(text))


def scan_text(text: str, path: str = "") -> tuple[Finding, ...]:
    """What the rules find in one text, each rule once."""
    found: dict[str, Finding] = {}
    start, line = 0, 1
    while start < len(text):
        end = _end(text, start)
        for finding in _scan_piece(text[start:end], path):
            placed = evolve(finding, line=finding.line + line - 1) if finding.line else finding
            if finding.rule not in found or found[finding.rule].level == "note":
                found[finding.rule] = placed
        if end == len(text):
            break
        after = max(start + 1, end - _OVERLAP)
        line += text.count("\n", start, after)
        start = after
    if path.endswith((".py", ".pyw")) or text.startswith(("#!/usr/bin/env python", "#!/usr/bin/python")):
        found.update({f.rule: f for f in _scan_script(text, path) if f.rule not in found})
    return tuple(found.values())


def _end(text: str, start: int) -> int:
    """Where a piece of a text ends: at the end of a line, if one is near."""
    if len(text) - start <= _PIECE:
        return len(text)
    at = text.rfind("\n", start + _PIECE // 2, start + _PIECE)
    return at + 1 if at > 0 else start + _PIECE


def _scan_piece(text: str, path: str) -> Iterator[Finding]:
    from hermes_tool_skills.scan.rules import load_rules
    from hermes_tool_skills.scan.text import flowing, versions

    prose = path.endswith(_PROSE) or "." not in path
    certain: set[str] = set()
    for how, version in versions(text):
        flowed = flowing(version)
        for rule in load_rules():
            if rule.id in certain:
                continue
            hit, meant = rule.found(version, flowed, prose=prose)
            if hit is None:
                continue
            if meant:
                certain.add(rule.id)
            line = 0 if how != "as it is" else _line(text, version, hit.start(), hit[0], flowed=rule.flow)
            why = rule.why if how == "as it is" else f"{rule.why} ({how})"
            why, level = (why, rule.level) if meant else (f"it only speaks of this: {why}", "note")
            shown = visible(" ".join(hit[0].split()))[:120]
            yield Finding(rule=rule.id, level=level, why=why, path=path, line=line, text=shown)


def _scan_script(text: str, path: str) -> Iterator[Finding]:
    """What a Python script does once the names that it puts together are put together."""
    from hermes_tool_skills.scan.python import read_script

    script = read_script(text)
    if script.pieced:
        why = "a script puts together the name of the code that it uses, so that nobody finds it"
        rule, line = "obfuscation-name-in-pieces", script.pieced_line
        yield Finding(rule=rule, level="dangerous", why=why, path=path, line=line, text=visible(script.pieced))
    if script.fetched_line:
        why = "a script fetches something, and runs or loads code that nobody can read here"
        yield Finding(rule="execution-fetched", level="dangerous", why=why, path=path, line=script.fetched_line)
    if script.sweep_line:
        why = "a script goes through whatever is in the home folder or the environment, and sends something"
        yield Finding(rule="exfiltration-sweep", level="dangerous", why=why, path=path, line=script.sweep_line)
    for found in _scan_piece(script.text, path) if script.text else ():
        yield evolve(found, line=0, why=f"{found.why} (once its pieces are joined)")


def _line(text: str, version: str, start: int, hit: str, *, flowed: bool) -> int:
    """The line a hit is in, as nearly as can be said."""
    if not flowed:
        return version.count("\n", 0, start) + 1 if version.count("\n") == text.count("\n") else 0
    first = " ".join(hit.split()[:3])
    return next((n for n, line in enumerate(text.splitlines(), 1) if first in " ".join(line.split())), 0)
