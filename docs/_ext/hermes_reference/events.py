"""The page of the events of a turn, as ``--json`` prints them."""

import json
from typing import get_args

import attrs

from hermes_core.types import (
    Asked,
    Called,
    Ended,
    Event,
    Failed,
    Noticed,
    Progress,
    Question,
    Returned,
    Said,
    Started,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    Used,
    Verdict,
)
from hermes_platform_kit.answers import event_json
from hermes_reference.markdown import block, code, joined, table
from hermes_reference.source import doc, fields_of

_CALL = ToolCall(id="call_1", name="terminal", arguments={"command": "python --version"})
_RESULT = ToolResult(call_id="call_1", name="terminal", parts=(Text(text="Python 3.13.0"),))
_QUESTION = Question(
    id="q1", kind="approval", subject="terminal(python --version)", risk="runs a command on this machine"
)
EXAMPLES: dict[type, Event] = {
    Started: Started(session_id="20260102_030405_a1b2c3", turn_id="5f0c", provider="ollama", model="qwen3"),
    Said: Said(text="It is "),
    Thinking: Thinking(text="The user wants the version."),
    Called: Called(call=_CALL),
    Progress: Progress(call_id="call_1", text="Python 3.13.0\n"),
    Returned: Returned(call=_CALL, result=_RESULT, seconds=0.012),
    Asked: Asked(question=_QUESTION, verdict=Verdict(outcome="allow", by="you", choice="once")),
    Noticed: Noticed(text="OpenRouter answered 429: Too many requests. Asking again in 12 s."),
    Used: Used(usage=Usage(input=812, output=43, calls=1), context=855, window=128_000),
    Failed: Failed(kind="auth_error", text="The key was refused.", hint="Set a new one: hermes model"),
    Ended: Ended(session_id="20260102_030405_a1b2c3", turn_id="5f0c", answer="It is 3.13.0.", reason="done",
                 usage=Usage(input=812, output=24, calls=2)),
}  # fmt: skip
MEANINGS = {
    "session_id": "The session; give it to `-r` to go on.",
    "turn_id": "The turn; empty when it failed before it began.",
    "provider": "Who answers.",
    "model": "Which model answers.",
    "text": "The text.",
    "call": "The call: `id`, `name`, `arguments`, `invalid`, `meta`; see {doc}`types`.",
    "call_id": "Which call this is output of.",
    "result": "The result: `call_id`, `name`, `parts`, `failed`.",
    "seconds": "How long the call took.",
    "question": "What was asked.",
    "verdict": "What came back: `outcome`, `reason`, `by`, `choice`.",
    "kind": "The error's class in snake case: `user_error`, `auth_error`, `unavailable` …",
    "hint": "What to do now.",
    "answer": "The whole answer; empty unless the turn is done.",
    "reason": "`done`, `failed` or `interrupted`.",
    "note": "Something to know of the answer, such as that it was cut; else empty.",
    "context": "How many tokens the conversation takes now; 0 where nobody knows.",
    "window": "How many tokens fit into the model; 0 where nobody knows.",
    "usage": "`input`, `output`, `cache_read`, `cache_write`, `reasoning` in tokens, `cost` in dollars, `calls`.",
}


def page() -> str:
    """Every event with its fields and an example."""
    return joined(
        "# Events",
        "A turn yields events. `--json` prints one JSON object a line; `type` is the event, the rest are its fields. "
        "`Hermes.turn` yields the same as objects of {doc}`types`. A `started` comes first and an `ended` last; a turn "
        "that fails before it begins has only `failed` and `ended`. Later versions may add events and fields: ignore "
        "what you do not know.",
        *(_event(kind) for kind in get_args(Event)),
    )


def _event(kind: type) -> str:
    rows = [(code(f.name), code(f.type), MEANINGS[f.name]) for f in fields_of(kind)]
    assert {f.name for f in attrs.fields(kind)} == {r[0].strip("`") for r in rows}
    example = json.dumps(json.loads(event_json(EXAMPLES[kind])), ensure_ascii=False)
    return joined(
        f"## {kind.__name__.lower()}", doc(kind), table(("field", "type", "meaning"), rows), block(example, "json")
    )
