"""A conversation as the turns of the protocol: user and model alternate, all results of one reply stand together."""

import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

from hermes_core.types import JSON, Blob, Message, Part, Reasoning, Text, ToolCall, ToolResult
from hermes_provider_bedrock.files import FileNames, carried
from hermes_provider_bedrock.known import takes_failures

__all__ = ["BLOCKS", "called_in", "conversation"]

# The key below the provider's in ``meta``: the layout of a reply that thought. Thoughts are whole, as they go back
# untouched; of a text there is its length, of a call its id.
BLOCKS = "blocks"
THOUGHT = "reasoningContent"
GO_ON = "Go on."
EMPTY = "(no text)"
_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")

Turn = tuple[str, list[dict[str, JSON]]]


def conversation(messages: Sequence[Message], key: str, model: str) -> list[Turn]:
    """Give the turns of a conversation; a user begins and ends, and none is empty.

    Args:
        messages: What was said, without the prompt.
        key: The provider's key in ``meta``.
        model: The model that is asked.
    """
    names, turns = FileNames(), list[Turn]()
    for message in messages:
        role = "assistant" if message.role == "assistant" else "user"
        blocks = _said(message, key) if role == "assistant" else _heard(message.parts, names, takes_failures(model))
        if turns and turns[-1][0] == role:
            turns[-1][1].extend(blocks)
        elif blocks:
            turns.append((role, blocks))
    if not turns or turns[0][0] != "user":
        turns.insert(0, ("user", [{"text": GO_ON}]))
    if turns[-1][0] != "user":
        turns.append(("user", [{"text": GO_ON}]))
    return [(role, _ordered(role, blocks)) for role, blocks in turns]


def called_in(turns: Sequence[Turn]) -> list[str]:
    """Give the names of the tools that were called, each once."""
    found = (block["toolUse"]["name"] for _, blocks in turns for block in blocks if "toolUse" in block)
    return list(dict.fromkeys(found))


def _said(message: Message, key: str) -> list[dict[str, JSON]]:
    """Give what a model said: its thoughts, its text, its calls, in their own order; thoughts first if that is lost."""
    layout = [dict(block) for part in message.parts if isinstance(part, Reasoning) for block in _kept(part, key)]
    text = "".join(part.text for part in message.parts if isinstance(part, Text))
    calls = {one.id: _call(one) for one in message.parts if isinstance(one, ToolCall)}
    made, at = list[dict[str, JSON]](), 0
    if _fits(layout, text, list(calls)):
        for block in layout:
            length = block.get("text", 0)
            if "toolUse" in block:
                made.append(calls[block["toolUse"]])
            elif THOUGHT in block:
                made.append(block)
            elif (piece := text[at : at + length]).strip():
                made.append({"text": piece})
            at += length
    else:
        made += [block for block in layout if THOUGHT in block]
        made += [{"text": one} for one in _texts(message.parts)] + list(calls.values())
    # A reply of thoughts alone is none: the service refuses one that ends so.
    return made if any(THOUGHT not in block for block in made) else []


def _call(call: ToolCall) -> dict[str, JSON]:
    return {"toolUse": {"toolUseId": _id(call.id), "name": call.name, "input": dict(call.arguments)}}


def _kept(part: Reasoning, key: str) -> Iterable[Mapping[str, JSON]]:
    own = part.meta.get(key)
    blocks = own.get(BLOCKS) if isinstance(own, Mapping) else None
    if isinstance(blocks, Sequence) and not isinstance(blocks, str):
        yield from (block for block in blocks if isinstance(block, Mapping))


def _fits(layout: Sequence[Mapping[str, JSON]], text: str, ids: list[str]) -> bool:
    """Tell whether a message still is what its layout says; it may have been changed since."""
    if not all(len(block) == 1 and block.keys() <= {THOUGHT, "text", "toolUse"} for block in layout):
        return False
    lengths = [block["text"] for block in layout if "text" in block]
    known = all(isinstance(length, int) and length >= 0 for length in lengths)
    called = [block["toolUse"] for block in layout if "toolUse" in block]
    return bool(layout) and known and sum(lengths) == len(text) and called == ids


def _heard(parts: Sequence[Part], names: FileNames, failures: bool) -> list[dict[str, JSON]]:
    made = [_result(part, names, failures) for part in parts if isinstance(part, ToolResult)]
    for part in parts:
        if isinstance(part, Text) and part.text.strip():
            made.append({"text": part.text})
        elif isinstance(part, Blob):
            made.append(carried(part, names))
    return made


def _result(result: ToolResult, names: FileNames, failures: bool) -> dict[str, JSON]:
    content: list[dict[str, JSON]] = [{"text": text} for text in _texts(result.parts)]
    content += [carried(part, names) for part in result.parts if isinstance(part, Blob)]
    made: dict[str, JSON] = {"toolUseId": _id(result.call_id), "content": content or [{"text": "(no output)"}]}
    if result.failed and failures:
        made["status"] = "error"
    elif result.failed:
        made["content"] = [{"text": "It failed."}, *made["content"]]
    return {"toolResult": made}


def _ordered(role: str, blocks: list[dict[str, JSON]]) -> list[dict[str, JSON]]:
    """Put results first, where the service wants them, and words beside a document, without which it takes none."""
    if role == "user":
        blocks = [one for one in blocks if "toolResult" in one] + [one for one in blocks if "toolResult" not in one]
        if any("document" in one for one in blocks) and not any("text" in one for one in blocks):
            blocks.append({"text": EMPTY})
    return blocks


def _texts(parts: Sequence[Part]) -> list[str]:
    return [part.text for part in parts if isinstance(part, Text) and part.text.strip()]


def _id(call_id: str) -> str:
    """Give the id of a call as the protocol takes it; another model's may be longer, or have other letters."""
    return call_id if _ID.fullmatch(call_id) else f"call_{sha256(call_id.encode('utf-8', 'replace')).hexdigest()[:32]}"
