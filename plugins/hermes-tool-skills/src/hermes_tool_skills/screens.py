"""What the commands show: plain lines, so that they can be tested and piped."""

import json
import time
from collections.abc import Iterable, Mapping, Sequence

from hermes_tool_skills.catalogue import Skill
from hermes_tool_skills.frontmatter import Head
from hermes_tool_skills.install import Candidate
from hermes_tool_skills.library import Version
from hermes_tool_skills.pending import Proposal
from hermes_tool_skills.scan import Finding, Report
from hermes_tool_skills.tree import Tree, difference, hashes, shortened, visible

_WIDEST = 72  # columns of the last cell


def table(rows: Sequence[Mapping[str, object]], columns: Sequence[str]) -> list[str]:
    """Aligned columns under their names; the last one is cut."""
    cells = [[visible(" ".join(str(row.get(c, "")).split())) for c in columns] for row in rows]
    for line in cells:
        line[-1] = line[-1] if len(line[-1]) <= _WIDEST else line[-1][: _WIDEST - 1] + "…"
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    lines = [list(columns), *cells]
    return ["  ".join(f"{c:<{w}}" for c, w in zip(line, widths, strict=True)).rstrip() for line in lines]


def json_lines(rows: Iterable[Mapping[str, object]]) -> list[str]:
    """One JSON object a line."""
    return [json.dumps(row, ensure_ascii=False, default=str) for row in rows]


def skill_row(skill: Skill) -> dict[str, object]:
    """One skill for the list."""
    entry = skill.entry
    return {
        "skill": skill.name, "state": skill.state, "source": skill.source,
        "version": entry.version if entry else "", "verdict": skill.verdict,
        "description": skill.description or skill.reason, "reason": skill.reason, "fix": skill.fix,
        "folder": str(skill.folder), "pinned": bool(entry and entry.pinned),
        "from": entry.source if entry else "",
    }  # fmt: skip


def skill_lines(skill: Skill, files: Mapping[str, int]) -> list[str]:
    """Everything about one skill."""
    entry = skill.entry
    rows = [
        ("state", f"{skill.state}{': ' + skill.reason if skill.reason else ''}"),
        ("now", skill.fix if skill.state != "ready" else ""),
        ("folder", str(skill.folder)),
        ("source", skill.source),
        ("from", entry.source if entry else ""),
        ("resolved", entry.resolved if entry else ""),
        ("version", f"{entry.version}, {day(entry.when)}, by {entry.who}" if entry else ""),
        ("verdict", skill.verdict),
        ("pinned", "yes: the agent cannot delete it" if entry and entry.pinned else ""),
    ]
    lines = [visible(f"{skill.name}: {skill.description}")]
    lines += [visible(f"  {name:<9} {value}") for name, value in rows if value]
    lines += asked(skill.head) if skill.head else []
    return [*lines, "  files", *(visible(f"    {path}  {size:,} bytes") for path, size in files.items())]


def asked(head: Head) -> list[str]:
    """What a skill wants of the person and the machine."""
    lines = [f"  needs     {v.name}: {v.help or v.prompt or v.required_for or 'not explained'}" for v in head.variables]
    lines += [f"  needs     the file {path}" for path in head.credential_files]
    lines += [f"  needs     the program {name}" for name in head.commands]
    if head.allowed_tools:
        lines.append(f"  asks for  the tools {head.allowed_tools} (it is given none: every call is judged as always)")
    lines += [f"  mended    {remark}" for remark in head.remarks]
    if head.platforms:
        lines.append(f"  is for    {', '.join(head.platforms)}")
    return [visible(line) for line in lines]


def install_lines(one: Candidate) -> list[str]:
    """What a person sees before they say yes: where it is from, what it holds, what changed, what was found."""
    draft, entry = one.draft, one.entry
    what = f"an update of version {entry.version}" if entry else "new"
    head = [
        visible(f"{one.name}: {draft.head.description}"),
        visible(f"  from      {one.source}   ({one.trust})"),
        *([visible(f"  resolved  {one.resolved}")] if one.resolved else []),
        f"  it is     {what}",
        *asked(draft.head),
    ]
    lines = [*head, "", "Files", *tree_lines(draft.tree, one.before)]
    if entry:
        lines += ["", "What changed", *(f"  {line}" for line in shortened(difference(one.before, draft.tree)))]
    return [*lines, "", *report_lines(draft.report)]


def tree_lines(tree: Tree, before: Tree) -> list[str]:
    """Each file with size and hash, and what it is to the version before."""
    lines = []
    for path, value in hashes(tree).items():
        mark = " " if not before or before.get(path) == tree[path] else "~" if path in before else "+"
        lines.append(visible(f"  {mark} {path}  {len(tree[path]):,} bytes  {value[:16]}"))
    return [*lines, *(visible(f"  - {path}  is gone") for path in sorted(before) if path not in tree)]


def report_lines(report: Report, most: int = 40) -> list[str]:
    """The verdict and what led to it, worst first."""
    lines = [f"Scan: {report.verdict}"]
    lines += [finding_line(f) for f in report.findings[:most]]
    if len(report.findings) > most:
        lines.append(f"  … {len(report.findings) - most} more")
    if report.verdict == "safe":
        lines.append("  Nothing that it knows was found. A scan is help, not a promise: read what you install.")
    lines.append("  What its scripts can do is bounded by the wall that commands run in: hermes walls")
    return lines


def finding_line(finding: Finding) -> str:
    """One finding."""
    where = f"{finding.path}:{finding.line}" if finding.line else finding.path
    shown = f"   {finding.text}" if finding.text else ""
    return visible(f"  {finding.level:<9} {where or 'the whole'}: {finding.why} [{finding.rule}]{shown}")


def finding_row(finding: Finding) -> dict[str, object]:
    """One finding for programs."""
    return {
        "rule": finding.rule, "level": finding.level, "path": finding.path, "line": finding.line,
        "why": finding.why, "text": finding.text,
    }  # fmt: skip


def version_row(one: Version, current: int) -> dict[str, object]:
    """One version for the history."""
    return {
        "version": one.number, "now": "*" if one.number == current else "", "when": day(one.when), "by": one.by,
        "session": one.session, "verdict": one.verdict, "why": one.why,
    }  # fmt: skip


def proposal_row(one: Proposal) -> dict[str, object]:
    """One change that waits."""
    return {
        "id": one.id, "skill": one.name, "action": one.action, "when": day(one.when), "verdict": one.verdict,
        "session": one.session, "why": one.why,
    }  # fmt: skip


def day(instant: float) -> str:
    """A moment in local time."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(instant)) if instant else ""
