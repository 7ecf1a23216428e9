"""Values that cross the boundary between the kernel and a plugin. Frozen, keyword only, no behaviour.

Sizes and times: text is ``str`` without lone surrogates, binary data is ``bytes``, durations are seconds as
``float``, instants are seconds since the epoch as ``float``, token counts are ``int``, money is US dollars.

Unions (``Part``, ``Delta``, ``Event``) may grow in a minor release: ignore members you do not know.
"""

from hermes_core.types.base import JSON, Effect, Feature, Meta, Outcome, Role, StopReason

from hermes_core.types.content import (  # isort: skip
    Blob, Button, Buttons, Location, Message, Part, Poll, Reasoning, Text, ToolCall, ToolResult,
)  # fmt: skip
from hermes_core.types.events import (  # isort: skip
    Asked, Called, Ended, Event, Failed, HistoryEntry, Hit, MessageTrace, Noticed, PastTurn, Progress, Prompt,
    PromptBlock, Returned, Said, Session, SessionEnd, SessionRow, Started, Thinking, TurnEnd, TurnResult, Used,
)  # fmt: skip
from hermes_core.types.guarding import CommandPart, Protected

from hermes_core.types.house import (  # isort: skip
    ASGIApp, Check, Command, Document, Fault, Finding, Migration, Phase, PluginRow, RouteRow, Routes, SlashCommand,
)  # fmt: skip
from hermes_core.types.model import (  # isort: skip
    CallDelta, Delta, Done, Endpoint, EndpointKey, MediaRequest, MediaResponse, MediaVerb, Model, Offer, Price,
    ReasoningDelta, Request, Response, TextDelta, ToolSpec, Usage, UsageDelta,
)  # fmt: skip
from hermes_core.types.people import (  # isort: skip
    Account, AccountLease, Approval, Chat, Envelope, Grant, Member, Principal, Question, Rights, Sent, Speaker, Target,
    Verdict, Waiting,
)  # fmt: skip
from hermes_core.types.turns import Limits, Spent, TurnBounds, TurnOrder

from hermes_core.types.views import (  # isort: skip
    BackendRow, Choice, ConversationState, Job, KeyRow, ModelRow, ProviderRow, SecretOrigin, Setting, ToolRow, UsageRow,
)  # fmt: skip
from hermes_core.types.work import ExecRequest, ExecResult, Memo, Source, Wall

__all__ = [
    "JSON", "ASGIApp", "Account", "AccountLease", "Approval", "Asked", "BackendRow", "Blob", "Button", "Buttons",
    "CallDelta", "Called", "Chat", "Check", "Choice", "Command", "CommandPart", "ConversationState", "Delta",
    "Document", "Done", "Effect", "Ended", "Endpoint", "EndpointKey", "Envelope", "Event", "ExecRequest", "ExecResult",
    "Failed", "Fault", "Feature", "Finding", "Grant", "HistoryEntry", "Hit", "Job", "KeyRow", "Limits", "Location",
    "MediaRequest", "MediaResponse", "MediaVerb", "Member", "Memo", "Message", "MessageTrace", "Meta", "Migration",
    "Model", "ModelRow", "Noticed", "Offer", "Outcome", "Part", "PastTurn", "Phase", "PluginRow", "Poll", "Price",
    "Principal", "Progress", "Prompt", "PromptBlock", "Protected", "ProviderRow", "Question", "Reasoning",
    "ReasoningDelta", "Request", "Response", "Returned", "Rights", "Role", "RouteRow", "Routes", "Said", "SecretOrigin",
    "Sent", "Session", "SessionEnd", "SessionRow", "Setting", "SlashCommand", "Source", "Speaker", "Spent", "Started",
    "StopReason", "Target", "Text", "TextDelta", "Thinking", "ToolCall", "ToolResult", "ToolRow", "ToolSpec",
    "TurnBounds", "TurnEnd", "TurnOrder", "TurnResult", "Usage", "UsageDelta", "UsageRow", "Used", "Verdict", "Waiting",
    "Wall",
]  # fmt: skip
