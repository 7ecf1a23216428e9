"""What shows how a turn went: a person's next words, exit codes, what was tried again, what of a lesson was done."""

import json
import re
from collections.abc import Sequence

from hermes_core.patterns import pattern
from hermes_core.types import Message, Text, ToolCall, ToolResult
from hermes_core.values import frozen

__all__ = ["Seen", "followed", "is_check", "judged", "said_by_person", "seen"]

_NO = pattern(
    r"^\W*(?:no|nope|wrong|incorrect|nein|falsch)\b(?!\s+(?:problem|worries|need|rush|hurry|thanks|matter|doubt|idea))"
    r"|\b(?:that'?s|that\s+is|this\s+is)\s+(?:not\s+(?:what|how|right|correct|it|true)|wrong|incorrect)\b|\bit'?s\s+wrong\b"
    r"|\bnot\s+what\s+i\b|\byou\s+(?:forgot|missed|broke|ignored|should\s+have|were\s+supposed)\b"
    r"|\bi\s+(?:told\s+you|said\s+(?:to|not)|asked\s+(?:you|for))\b|\b(?:do\s+it|try)\s+again\b|\btake\s+that\s+back\b"
    r"|\b(?:it|that|this)\s+(?:still\s+)?(?:doesn'?t|does\s+not|didn'?t|did\s+not)\s+work\b"
    r"|\bnicht\s+so\b|\bdas\s+stimmt\s+nicht\b"
    r"|^\s*아니|틀렸|틀린|잘못|그게\s?아니|말고|다시\s?(?:해|하)|되돌려"
    r"|不对|不對|错了|錯了|不是(?:这样|這樣|我)|重新(?:来|來|做)|撤销|撤銷|違う|違います|間違|じゃなくて|ではなく|やり直",
    re.IGNORECASE,
)
_YES = pattern(
    r"\b(?:thanks|thank\s+you|thx|perfect|great|excellent|well\s+done|nice|works(?:\s+now)?|exactly|danke|perfekt|passt)\b"
    r"|고마워|고맙|감사|완벽|잘했|좋아요|谢谢|謝謝|完美|很好|太好了|ありがと|完璧|👍|🎉|❤",
    re.IGNORECASE,
)
_CHECK = pattern(
    r"\b(?:pytest|unittest|tox|nox|ctest|phpunit|rspec|jest|vitest|mocha|ruff|mypy|pyright|eslint|tsc|shellcheck)\b"
    r"|\b(?:npm|pnpm|yarn|bun|cargo|go|make|gradle|mvn|dotnet|swift|just|rake|mix|deno)\s+(?:run\s+)?"
    r"(?:test|check|build|lint|verify|vet|ci)\b|(?:^|[\s;&|])\S*(?:test|check|verify|lint)\S*\.(?:sh|py)\b",
    re.IGNORECASE,
)
_EXIT = re.compile(r"^exit (\d+)(?: \(.*\))?$", re.MULTILINE)
_QUOTE = re.compile(r"`([^`\n]{2,80})`")
_CODE = re.compile(r"--?[A-Za-z]|.*[\d_/=]|.*\w[.:]\w")
_SHOWN = 160


@frozen(kw_only=True)
class Seen:
    """What a turn did. ``check`` says how the last test ended, None where none ran; ``mended``: one failed before."""

    calls: int = 0
    failed: int = 0
    retries: int = 0
    check: bool | None = None
    mended: bool = False
    outside: bool = False
    command: str = ""
    acts: str = ""


def said_by_person(message: Message) -> str:
    """Return the words of a message that a person said; empty where no person did."""
    if message.role != "user" or message.untrusted or message.meta.get("hermes"):
        return ""
    return "\n".join(part.text for part in message.parts if isinstance(part, Text) and not part.quotes)


def judged(text: str) -> bool | None:
    """Say whether a person's words call what was done before them good or bad; None where they do neither."""
    start = text[:600]
    if _NO.search(start):
        return False
    return True if _YES.search(start) else None


def seen(rows: Sequence[Message]) -> Seen:
    """Say what the last turn of these messages did."""
    turn = _last_turn(rows)
    calls = {part.id: part for one in turn for part in one.parts if isinstance(part, ToolCall)}
    results = [part for one in turn for part in one.parts if isinstance(part, ToolResult)]
    check: bool | None = None
    failed = retries = 0
    mended, command = False, ""
    before: dict[str, bool] = {}
    for result in results:
        call = calls.get(result.call_id)
        status = _status(result)
        bad = result.failed or bool(status)
        failed += bad
        name = call.name if call else result.name
        retries += before.get(name, False)
        before[name] = bad
        ran = str(call.arguments.get("command", "")) if call else ""
        if ran and not result.failed and is_check(ran):
            mended = mended or (check is False and not status)
            check, command = not status, " ".join(ran.split())[:_SHOWN]
    said = [part.text for one in turn if one.role == "assistant" for part in one.parts if isinstance(part, Text)]
    acts = [json.dumps(dict(call.arguments), ensure_ascii=False) for call in calls.values()]
    return Seen(
        calls=len(calls), failed=failed, retries=retries, check=check, mended=mended, command=command,
        outside=any(one.untrusted for one in rows) or any(one.untrusted for one in results),
        acts="\n".join((*acts, *said)),
    )  # fmt: skip


def is_check(command: str) -> bool:
    """Tell whether a command is a test of what was done."""
    return bool(_CHECK.search(command))


def followed(lesson: str, acts: str) -> bool | None:
    """Say whether a turn did what a lesson says; None where that cannot be seen from what it did.

    It can where the lesson names something to be written: what stands in backquotes, else what looks like code.
    """
    marks = _QUOTE.findall(lesson) or [one for one in _words(lesson) if _CODE.match(one)]
    plain = _flat(acts)
    return any(_flat(mark) in plain for mark in marks) if marks else None


def _words(text: str) -> list[str]:
    return [word for one in text.split() if len(word := one.strip(".,;:!?()[]{}'\"")) > 2]


def _flat(text: str) -> str:
    return " ".join(text.replace("\\n", " ").replace('\\"', '"').split()).casefold()


def _last_turn(rows: Sequence[Message]) -> Sequence[Message]:
    for at in range(len(rows) - 1, -1, -1):
        if said_by_person(rows[at]):
            return rows[at + 1 :]
    return rows


def _status(result: ToolResult) -> int:
    text = "\n".join(part.text for part in result.parts if isinstance(part, Text))
    found = _EXIT.findall(text[-400:])
    return int(found[-1]) if found else 0
