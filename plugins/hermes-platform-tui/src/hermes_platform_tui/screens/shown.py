"""How words, numbers and times of strangers are shown in a dialog: safe, short, the same everywhere."""

import re
import time
import unicodedata

from hermes_core.errors import HermesError
from hermes_core.types import Message, Text, ToolCall, ToolResult, Usage
from hermes_platform_tui.look.figures import money, span, tokens
from hermes_platform_tui.markdown.clean import SEQUENCE
from hermes_platform_tui.transcript.entries import unfenced

__all__ = ["clean", "cost", "exact", "excerpt", "fault", "money", "one_line", "percent", "span", "tokens", "when"]

_BREAKS = re.compile("\r\n|[\r\x85\u2028\u2029]")
_DROPPED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
# What takes no room and no control category: a blank letter, a variation selector, a joiner of letters.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_ODD = re.compile(r"[^\n -~]")


def clean(text: str) -> str:
    """The text without escape sequences, control characters and overrides of direction."""
    return _DROPPED.sub("", _BREAKS.sub("\n", SEQUENCE.sub("", text))).expandtabs(4)


def exact(text: str) -> str:
    """The text with everything invisible spelled out, where a person must see what will run."""
    return _ODD.sub(lambda found: _spell(found[0]), text)


def _spell(character: str) -> str:
    category = unicodedata.category(character)
    if category[0] != "C" and category not in ("Zs", "Zl", "Zp") and not _UNSEEN.match(character):
        return character
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def one_line(text: str, most: int = 500) -> str:
    """The text as one line of at most so many characters."""
    return " ".join(clean(text[: most * 4]).split())[:most]


def excerpt(message: Message, most: int = 2000) -> str:
    """What a message says in plain text; of a tool call its name, of a result its beginning."""
    said = []
    for part in message.parts:
        if isinstance(part, Text):
            said.append(part.text[:most])
        elif isinstance(part, ToolCall):
            said.append(f"→ {one_line(part.name, 80)}")
        elif isinstance(part, ToolResult):
            text = " ".join(unfenced(one.text)[:200] for one in part.parts if isinstance(one, Text))
            said.append(f"← {one_line(part.name, 80)}: {one_line(text, 120)}")
    return clean("\n".join(said)[:most]).strip()


def fault(error: HermesError) -> str:
    """What went wrong and what to do now, safe to show."""
    return clean(str(error)).strip()


def cost(usage: Usage) -> str:
    """What it cost: nothing when nothing was asked, ``~`` before an estimate, unknown where nobody knows."""
    if not usage.calls and not usage.cost:
        return ""
    if not usage.priced:
        return "unknown"
    if usage.priced == "actual" and not usage.cost:
        return "free"
    return money(usage.cost, usage.priced)


def percent(part: float, whole: float) -> str:
    """A share of something; empty where there is no whole."""
    return f"{100 * part / whole:.0f}%" if whole > 0 else ""


def when(instant: float, now: float) -> str:
    """When something was: just now, 5 min ago, 3 h ago, 12 Nov, 12 Nov 2024."""
    if instant <= 0:
        return ""
    past = now - instant
    if past < 60:
        return "just now"
    if past < 3600:
        return f"{int(past // 60)} min ago"
    if past < 86400:
        return f"{int(past // 3600)} h ago"
    if past < 7 * 86400:
        days = int(past // 86400)
        return f"{days} day{'s' * (days > 1)} ago"
    then = time.localtime(instant)
    return time.strftime("%d %b" if then.tm_year == time.localtime(now).tm_year else "%d %b %Y", then).lstrip("0")
