"""What a model thought, kept so that it can be given back exactly: the service checks a signature over it.

What is kept stands in ``Reasoning.meta`` under the provider's key: the layout of the reply, with thinking blocks whole
and other blocks as placeholders, so that a reply in which they alternate is rebuilt in its own order.
"""

from collections.abc import Mapping, Sequence

from hermes_core.types import JSON, Message, Reasoning, Text, ToolCall

__all__ = ["BLOCKS", "kept_layout", "rebuild", "seal_of", "thinking_only"]

BLOCKS = "blocks"
THINKING = ("thinking", "redacted_thinking")


def seal_of(block: Mapping[str, JSON]) -> str:
    """What the service recognizes a thinking block by; empty for other blocks and for unsigned ones."""
    if block.get("type") == "thinking":
        return str(block.get("signature") or "")
    return str(block.get("data") or "") if block.get("type") == "redacted_thinking" else ""


def kept_layout(message: Message, key: str) -> list[Mapping[str, JSON]]:
    """The layout kept with a message by this provider; empty when there is none. Thoughts of others are not ours."""
    kept: list[Mapping[str, JSON]] = []
    for part in message.parts:
        own = part.meta.get(key) if isinstance(part, Reasoning) else None
        blocks = own.get(BLOCKS) if isinstance(own, Mapping) else None
        if isinstance(blocks, Sequence) and not isinstance(blocks, str):
            kept += [block for block in blocks if isinstance(block, Mapping)]
    return kept


def thinking_only(
    layout: Sequence[Mapping[str, JSON]], refused: set[str], *, unsigned: bool
) -> list[Mapping[str, JSON]]:
    """The layout without thoughts that cannot be given back."""
    return [
        block
        for block in layout
        if block.get("type") not in THINKING
        or (seal_of(block) not in refused if seal_of(block) else unsigned and bool(block.get("thinking")))
    ]


def rebuild(
    layout: Sequence[Mapping[str, JSON]], message: Message, calls: Mapping[str, dict[str, JSON]]
) -> list[dict[str, JSON]]:
    """The blocks of a reply in their own order; thoughts first where the message was changed since.

    ``calls`` holds the blocks of its tool calls by the ids the reply gave them.
    """
    text = "".join(part.text for part in message.parts if isinstance(part, Text))
    thoughts = [dict(block) for block in layout if block.get("type") in THINKING]
    if not _fits(layout, text, [part.id for part in message.parts if isinstance(part, ToolCall)]):
        said = [{"type": "text", "text": part.text} for part in message.parts if isinstance(part, Text)]
        return [*thoughts, *(block for block in said if block["text"].strip()), *calls.values()]
    made: list[dict[str, JSON]] = []
    at = 0
    for block in layout:
        if block.get("type") == "text":
            piece, at = text[at : at + block["length"]], at + block["length"]
            if piece.strip():
                made.append({"type": "text", "text": piece})
        else:
            made.append(calls[block["id"]] if block.get("type") == "tool_use" else dict(block))
    return made


def _fits(layout: Sequence[Mapping[str, JSON]], text: str, ids: list[str]) -> bool:
    lengths = [block.get("length") for block in layout if block.get("type") == "text"]
    if not all(isinstance(length, int) and length >= 0 for length in lengths):
        return False
    called = [block.get("id") for block in layout if block.get("type") == "tool_use"]
    known = all(block.get("type") in (*THINKING, "text", "tool_use") for block in layout)
    return known and sum(length for length in lengths if isinstance(length, int)) == len(text) and called == ids
