"""Values that cross the boundary between the kernel and a plugin. Frozen, keyword only, no behaviour.

Sizes and times: text is ``str`` without lone surrogates, binary data is ``bytes``, durations are seconds as
``float``, instants are seconds since the epoch as ``float``, token counts are ``int``, money is US dollars.

Unions (``Part``, ``Delta``, ``Event``) may grow in a minor release: ignore members you do not know.
"""

from hermes_core.types.base import JSON, Effect, Feature, Meta, Outcome, Role, StopReason
from hermes_core.types.children import ChildResult, ChildStatus, ChildTask
from hermes_core.types.content import Blob, Message, Part, Reasoning, Text, ToolCall, ToolResult
from hermes_core.types.events import (
    Asked,
    Called,
    Ended,
    Event,
    Failed,
    HistoryEntry,
    Hit,
    Progress,
    Prompt,
    PromptBlock,
    Returned,
    Said,
    Session,
    SessionEnd,
    Started,
    Thinking,
)
from hermes_core.types.house import Check, Command, Fault, Finding, Phase, SlashCommand
from hermes_core.types.model import (
    CallDelta,
    Delta,
    Done,
    Endpoint,
    Model,
    ReasoningDelta,
    Request,
    Response,
    TextDelta,
    ToolSpec,
    Usage,
    UsageDelta,
)
from hermes_core.types.people import Envelope, Principal, Question, Sent, Verdict
from hermes_core.types.work import ExecRequest, ExecResult, Memo, Source

__all__ = [
    "JSON",
    "Asked",
    "Blob",
    "CallDelta",
    "Called",
    "Check",
    "ChildResult",
    "ChildStatus",
    "ChildTask",
    "Command",
    "Delta",
    "Done",
    "Effect",
    "Ended",
    "Endpoint",
    "Envelope",
    "Event",
    "ExecRequest",
    "ExecResult",
    "Failed",
    "Fault",
    "Feature",
    "Finding",
    "HistoryEntry",
    "Hit",
    "Memo",
    "Message",
    "Meta",
    "Model",
    "Outcome",
    "Part",
    "Phase",
    "Principal",
    "Progress",
    "Prompt",
    "PromptBlock",
    "Question",
    "Reasoning",
    "ReasoningDelta",
    "Request",
    "Response",
    "Returned",
    "Role",
    "Said",
    "Sent",
    "Session",
    "SessionEnd",
    "SlashCommand",
    "Source",
    "Started",
    "StopReason",
    "Text",
    "TextDelta",
    "Thinking",
    "ToolCall",
    "ToolResult",
    "ToolSpec",
    "Usage",
    "UsageDelta",
    "Verdict",
]
