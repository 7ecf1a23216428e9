"""What a script came to, as the model reads it."""

import re
from collections.abc import Sequence

from hermes_core.types import Blob, Part, Text
from hermes_tool_python.calling import Calls
from hermes_tool_python.notes import Known
from hermes_tool_python.script import Ended, Printed

__all__ = ["cleaned", "cut_off", "parts_of", "text_of"]

_CONTROL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])|[\x00-\x08\x0b-\x1f\x7f]")
_ONCE = "It was not run again: look at what it did before you repeat it."


def cleaned(text: str) -> str:
    """Text without what only moves a cursor or rings a bell."""
    return _CONTROL.sub("", text.replace("\r\n", "\n"))


def printed_of(printed: Printed) -> str:
    """What it printed."""
    text = printed.head
    if printed.left:
        text += f"\n… {printed.left:,} bytes left out: print less, or write them to a file …\n"
    return cleaned(text + printed.tail).strip("\n")


def text_of(ended: Ended, calls: Calls, kept: bool) -> str:
    """All of it in one text."""
    lines = [printed_of(ended.printed), f"→ {ended.value}" if ended.value else ""]
    if ended.error:
        lines.append(ended.error)
    if ended.trouble:
        lines.append(f"The script came to no end: {ended.trouble}.")
        if kept:
            lines.append("The variables that were kept are gone.")
    if calls.made and ended.failed:
        many = f"{calls.made} calls" if calls.made > 1 else "1 call"
        lines.append(f"It made {many} of tools before; what they did stays done.")
    if ended.said:
        lines.append(ended.said)
    return "\n".join(filter(None, lines)) or "(no output)"


def parts_of(text: str, images: Sequence[Blob]) -> Sequence[Part]:
    """The text, and the images that it showed."""
    return (Text(text=text), *images)


def cut_off(known: Known | None, living: bool) -> str:
    """What is known of a script whose Hermes died."""
    if known is None:
        return f"Hermes was ended as this script was to run; whether it had begun is not known. {_ONCE}"
    became = "it may still run: its processes cannot be looked at" if living else "nothing of it runs any more"
    if known.over and not living:
        became = "it had come to its end, and what it gave is lost"
    lines = [f"Hermes was ended while this script ran; {became}. {_ONCE}"]
    if known.calls:
        lines.append("Its calls of tools:")
        lines += [f"- {call}: {how or 'cut off, nobody knows what it did'}" for call, how in known.calls]
    else:
        lines.append("It had called no tool.")
    return "\n".join(lines)
