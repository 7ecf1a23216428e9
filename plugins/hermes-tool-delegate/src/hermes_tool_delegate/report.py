"""What a child came to, as its parent's model reads it: a small JSON object, its answer bounded."""

import json
from collections import Counter

from hermes_core.kinds import ToolContext
from hermes_core.types import JSON
from hermes_tool_delegate.child import Result

MOST = 24_000  # characters of one answer
ALL = 44_000  # characters of all answers of one call


async def report(context: ToolContext, results: list[Result]) -> str:
    """One object, or a list of them in the order of the tasks. Raises ToolError when an answer cannot be kept."""
    most = min(MOST, ALL // len(results))
    rows = [await _row(context, number, result, most) for number, result in enumerate(results, 1)]
    return json.dumps(rows[0] if len(rows) == 1 else rows, ensure_ascii=False)


async def _row(context: ToolContext, number: int, result: Result, most: int) -> dict[str, JSON]:
    row: dict[str, JSON] = {"task": number, "status": result.status}
    if result.answer:
        row["answer"] = await _bounded(context, f"answer-{number}.md", result.answer, most)
    if result.error:
        row["error"] = result.error[:4_000]
    if result.trace:
        row["tools"] = _summary(result)
    if result.session_id:
        used = result.usage
        row |= {"calls": used.calls, "tokens": {"input": used.input, "output": used.output}}
        row |= {"seconds": round(result.seconds, 1), "model": result.model, "session": result.session_id}
    return row


async def _bounded(context: ToolContext, name: str, answer: str, most: int) -> str:
    if len(answer) <= most:
        return answer
    path = await context.spill(name, answer.encode("utf-8", "replace"))
    head, tail = answer[: most * 2 // 3], answer[-most // 4 :]
    return (
        f"{head}\n\n… {len(answer) - len(head) - len(tail):,} characters left out; all of it is in {path} …\n\n{tail}"
    )


def _summary(result: Result) -> str:
    """``terminal ×3 (1 failed), read_file``, in the order of first use."""
    names: Counter[str] = Counter()
    bad: dict[str, Counter[str]] = {}
    for entry in result.trace:
        name, _, outcome = entry.rpartition(": ")
        names[name] += 1
        if outcome != "ok":
            bad.setdefault(name, Counter())[outcome] += 1
    shown = []
    for name, count in names.items():
        troubles = ", ".join(f"{n} {outcome}" for outcome, n in bad.get(name, {}).items())
        shown.append(f"{name}{f' ×{count}' if count > 1 else ''}{f' ({troubles})' if troubles else ''}")
    return ", ".join(shown)[:1_000]
