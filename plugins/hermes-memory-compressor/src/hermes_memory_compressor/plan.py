"""What stays as it is and what is compacted. Calls and their results are never parted."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from hermes_core.types import Message, Text, ToolCall, ToolResult
from hermes_core.values import frozen
from hermes_memory_compressor import tokens
from hermes_memory_compressor.block import Block, is_ours, read_block
from hermes_memory_compressor.config import Config, Limits
from hermes_memory_compressor.prune import output_of

Group: TypeAlias = tuple[Message, ...]
_MOST_FLOOR = 8


@frozen(kw_only=True)
class Plan:
    """A conversation, taken apart. ``asked`` is the last request, when it is older than the tail.

    ``earlier`` is what an earlier compaction left; ``kept`` the last results of tools whose results are kept.
    """

    head: Sequence[Message]
    middle: Sequence[Message]
    asked: Message | None
    tail: Sequence[Message]
    earlier: Block | None
    kept: Mapping[str, str]
    whole: Sequence[str] = ()  # the calls whose results stay word for word where they are

    @property
    def said(self) -> list[str]:
        """What the person said in the middle, each message word for word, without what they attached or passed on."""
        theirs = (m for m in self.middle if m.role == "user" and not m.untrusted and not _by_plugin(m))
        texts = ("".join(p.text for p in m.parts if isinstance(p, Text) and not p.quotes).strip() for m in theirs)
        return [text for text in texts if text]

    @property
    def answered(self) -> list[str]:
        """What the agent said in the middle."""
        theirs = (m for m in self.middle if m.role == "assistant")
        return [part.text for message in theirs for part in message.parts if isinstance(part, Text)]

    @property
    def rest(self) -> list[Message]:
        """What follows the summary."""
        return [*([self.asked] if self.asked else []), *self.tail]


def groups_of(messages: Sequence[Message]) -> list[Group]:
    """Messages with the tool results, and the words of other plugins, that belong to them."""
    groups: list[list[Message]] = []
    for message in messages:
        if groups and (_by_plugin(message) or message.role == "tool"):
            groups[-1].append(message)
        else:
            groups.append([message])
    return [tuple(group) for group in groups]


def _by_plugin(message: Message) -> bool:
    """Whether a plugin said it beside the person."""
    return bool({"added", "sent_on"} & message.meta.get("hermes", {}).keys())


def make_plan(messages: Sequence[Message], config: Config, limits: Limits) -> Plan:
    """Decide. ``messages`` hold no system prompt and at least one request of the person."""
    groups = groups_of(messages)
    ours = {i for i, group in enumerate(groups) if is_ours(group[0])}
    asked = max(i for i, group in enumerate(groups) if group[0].role == "user" and i not in ours)
    start = _tail_start(groups, config, limits)
    start = max(start, 1 + max(ours, default=-1))  # a summary is never part of the tail
    first = min([start, asked, *ours])
    head = _head(groups[:first], config, limits)
    between = [i for i in range(len(head), start) if i != asked and i not in ours]
    earlier = next((block for i in sorted(ours, reverse=True) if (block := read_block(groups[i][0]))), None)
    flat = [message for group in head for message in group]
    tail = [message for group in groups[start:] for message in group]
    kept, whole = _kept_results(messages, [*flat, *tail], config, earlier, limits)
    return Plan(
        head=flat,
        middle=[message for i in between for message in groups[i]],
        asked=groups[asked][0] if asked < start else None,
        tail=tail,
        earlier=earlier,
        kept=kept,
        whole=whole,
    )


def _tail_start(groups: Sequence[Group], config: Config, limits: Limits) -> int:
    """Walk back until the tail is full; at least to the last reply, and to a few messages where there is room."""
    floor = max(3, min(config.protect_last, _MOST_FLOOR))
    must = max((i for i, group in enumerate(groups) if group[0].role == "assistant"), default=len(groups) - 1)
    start, total, count = len(groups), 0, 0
    while start > 0:
        cost = tokens.of_messages(groups[start - 1])
        most = limits.threshold // 2 if count < floor else limits.tail_most
        full = count >= floor and total >= limits.tail
        if start <= min(must, len(groups) - 1) and (full or total + cost > most):
            break
        start, total, count = start - 1, total + cost, count + len(groups[start - 1])
    return start


def _head(groups: Sequence[Group], config: Config, limits: Limits) -> list[Group]:
    head: list[Group] = []
    total = 0
    for group in groups:
        total += tokens.of_messages(group)
        if sum(map(len, head)) >= config.protect_first or total > limits.tail:
            break
        head.append(group)
    while head and head[-1][0].role == "user":  # a question whose answer is summarised is summarised with it
        head.pop()
    return head


def _kept_results(
    messages: Sequence[Message], staying: Sequence[Message], config: Config, earlier: Block | None, limits: Limits
) -> tuple[dict[str, str], list[str]]:
    """The last results to be kept: by tool, those that would go; by call, those that stay where they are."""
    kept = dict(earlier.kept) if earlier else {}
    whole: list[str] = []
    there = {part.id for message in staying for part in message.parts if isinstance(part, ToolCall)}
    for name in config.keep_results:
        results = [p for m in messages for p in m.parts if isinstance(p, ToolResult) and p.name == name]
        good = [result for result in results if not result.failed]
        if good and good[-1].call_id in there:
            whole.append(good[-1].call_id)
            kept.pop(name, None)
        elif good:
            kept[name] = output_of(good[-1])
    room = limits.threshold  # characters: a quarter of the threshold
    return {name: text if len(text) <= room else f"{text[:room]}\n… (cut)" for name, text in kept.items()}, whole
