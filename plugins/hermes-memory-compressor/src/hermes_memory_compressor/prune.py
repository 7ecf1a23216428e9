"""Step one, without a model: old tool outputs become a line each, large arguments short, old pictures go."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import cast

from attrs import evolve

from hermes_core.types import JSON, Blob, Message, Part, Reasoning, Text, ToolCall, ToolResult
from hermes_core.values import define

LONG = 400  # characters; shorter outputs stay as they are
LONG_ARGUMENT = 200
_MOST_ARGUMENTS = 2_000
_TARGETS = ("path", "file_path", "file", "command", "cmd", "url", "query", "pattern", "name", "id")


@define
class Counts:
    """What step one did."""

    outputs: int = 0
    duplicates: int = 0
    arguments: int = 0
    images: int = 0


def prune(
    messages: Sequence[Message], *, later: Iterable[Message] = (), keep: Collection[str] = ()
) -> tuple[list[Message], Counts]:
    """The messages, pruned. ``later`` follow them and are not touched; results of calls in ``keep`` stay."""
    counts, calls, seen = Counts(), calls_of(messages), {mark for m in later if (mark := _fingerprint(m))}
    pruned: list[Message] = []
    for message in reversed(messages):  # of equal outputs the last one counts
        mark = _fingerprint(message)
        parts = tuple(_part(part, calls, counts, keep, again=mark in seen) for part in message.parts)
        if mark:
            seen.add(mark)
        parts = tuple(part for part in parts if not isinstance(part, Reasoning)) or (Text(text="(only thoughts)"),)
        # A changed message is not what its provider signed.
        pruned.append(message if parts == tuple(message.parts) else evolve(message, parts=parts, meta={}))
    return pruned[::-1], counts


def calls_of(messages: Iterable[Message]) -> dict[str, ToolCall]:
    """The calls of messages by id."""
    return {part.id: part for message in messages for part in message.parts if isinstance(part, ToolCall)}


def output_of(result: ToolResult) -> str:
    """The words of a result."""
    return "".join(part.text for part in result.parts if isinstance(part, Text))


def target_of(arguments: Mapping[str, JSON]) -> str:
    """What a call was about, in a few words."""
    named = [arguments[name] for name in _TARGETS if isinstance(arguments.get(name), str)]
    found = next((value for value in (*named, *arguments.values()) if isinstance(value, str) and value.strip()), "")
    return short(found, 80)


def short(text: str, most: int) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text[: most * 4].split())
    return line if len(line) <= most and len(text) <= most * 4 else f"{line[: most - 1]}…"


def line_of(result: ToolResult, call: ToolCall | None) -> str:
    """A result in one line: tool, target, outcome, size, beginning."""
    text = output_of(result)
    target = target_of(call.arguments) if call else ""
    outcome = "failed" if result.failed else "ok"
    size = f"{text.count(chr(10)) + 1:,} lines, {len(text):,} characters"
    about = f"{result.name} {target!r}" if target else result.name
    return f"[{about}: {outcome}, {size}, now left out; began: {short(text, 120)}]"


def cut(text: str, head: int, tail: int) -> str:
    """The two ends of a text that is longer than both."""
    if len(text) <= head + tail + 60:
        return text
    return f"{text[:head]}\n… {len(text) - head - tail:,} characters left out …\n{text[len(text) - tail :]}"


def _fingerprint(message: Message) -> tuple[str, str] | None:
    for part in message.parts:
        if isinstance(part, ToolResult) and len(text := output_of(part)) > LONG:
            return part.name, text
    return None


def _part(part: Part, calls: Mapping[str, ToolCall], counts: Counts, keep: Collection[str], *, again: bool) -> Part:
    if isinstance(part, ToolResult) and part.call_id not in keep:
        return _result(part, calls.get(part.call_id), counts, again=again)
    if isinstance(part, ToolCall):
        arguments = shorten(part.arguments)
        if arguments != part.arguments:
            counts.arguments += 1
            return evolve(part, arguments=arguments, meta={})
    if isinstance(part, Blob):
        counts.images += 1
        return Text(text=f"({part.name or part.media_type}, left out)")
    return part


def _result(result: ToolResult, call: ToolCall | None, counts: Counts, *, again: bool) -> ToolResult:
    images = sum(isinstance(part, Blob) for part in result.parts)
    if len(output_of(result)) <= LONG and not images:
        return result
    counts.images += images
    if again:
        counts.duplicates += 1
        line = f"[{result.name}: the same output as a later call]"
    elif len(output_of(result)) <= LONG:
        line = f"{output_of(result)} (pictures left out)".strip()
    else:
        counts.outputs += 1
        line = line_of(result, call)
    return evolve(result, parts=(Text(text=line),))


def shorten(arguments: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """Arguments with long texts cut; still a JSON object."""
    made = cast("dict[str, JSON]", _shorten(dict(arguments)))
    text = json.dumps(made, ensure_ascii=False, default=str)
    return made if len(text) <= _MOST_ARGUMENTS else {"shortened": short(text, 500)}


def _shorten(value: JSON) -> JSON:
    if isinstance(value, str) and len(value) > LONG_ARGUMENT:
        left = len(value) - LONG_ARGUMENT + 50
        return f"{value[: LONG_ARGUMENT - 50]}… ({left:,} characters left out)"
    if isinstance(value, dict):
        return {key: _shorten(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_shorten(item) for item in value]
    return value
