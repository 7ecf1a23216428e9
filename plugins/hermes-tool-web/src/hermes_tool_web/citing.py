"""The list of sources below an answer: what it cites by number, and what was read for it.

An answer is only added to, so its words are shown as they come. What has its address in the answer is not named again,
and a citation that no page of the conversation stands behind is told of, as words that are there cannot be taken back.
"""

import re
from collections.abc import Mapping, Sequence

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.patterns import pattern
from hermes_core.types import Message, Session, Text
from hermes_tool_web.sources import known_here

__all__ = ["cited", "with_sources"]

_CODE = pattern(r"(?ms)^ *(```+|~~~+).*?(?:^ *\1[^\n]*$|\Z)|`[^`\n]+`")
_CITED = pattern(r"(?<![\w)!])(?<!\D\])\[(\d{1,3})\](?![(:\w])")


async def cited(ctx: PluginContext, session: Session, message: Message) -> Message | None:
    """Return an answer with its sources; None where there is nothing to add."""
    sources, read = await known_here(ctx, session)
    answer = "".join(part.text for part in message.parts if isinstance(part, Text))
    if not sources or (more := with_sources(answer, sources, read)) == answer:
        return None
    return evolve(message, parts=(Text(text=more), *(part for part in message.parts if not isinstance(part, Text))))


def with_sources(answer: str, sources: Sequence[tuple[str, str]], read: Sequence[int]) -> str:
    """Return the answer with its list of sources; as it is where it has none.

    ``sources`` are the addresses and titles of the conversation, of which the first has the number 1; ``read`` are the
    numbers of those that were read for this answer.
    """
    known = dict(enumerate(sources, 1))
    cited = _cited(answer, known)
    listed = [n for n in sorted({*cited, *read}) if n in known and not _names(answer, known[n][0])]
    lines = [" ".join([f"[{n}]", *_plain(known[n][1]).split(), known[n][0]]) for n in listed]
    said = ["\n".join(["Sources:", *lines])] if lines else []
    if wrong := [f"[{number}]" for number in cited if number not in known]:
        said.append(f"(No page of this conversation stands behind {', '.join(wrong)}.)")
    if not said:
        return answer
    ends = len(answer) - len(answer.rstrip("\n"))
    return answer + "\n" * max(0, 2 - ends) + "\n\n".join(said)


def _cited(answer: str, known: Mapping[int, tuple[str, str]]) -> Sequence[int]:
    """The numbers that are cited without an address; one that stands beside its number speaks for itself."""
    found = _CITED.finditer(_CODE.sub(" ", answer)) if known else ()
    return sorted({int(one[1]) for one in found})


def _plain(title: str) -> str:
    """A title of a page as it stands in an answer: it is no link, no picture, no code, and attaches no file."""
    return title.replace("MEDIA:", "MEDIA").replace("](", "] (").replace("`", "'")


def _names(answer: str, url: str) -> bool:
    """Whether an address stands in an answer, and not only a longer one that begins with it."""
    return re.search(re.escape(url.rstrip("/")) + r"/?(?![\w/?#&=%~+-]|\.\w)", answer) is not None
