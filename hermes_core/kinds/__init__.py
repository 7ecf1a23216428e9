"""The kinds of plugin: provider, tool, backend, platform, memory. Abstract and small.

A kind has at most three abstract methods. Everything else has a default that says "no" politely. Every method that
may wait is ``async`` and must tolerate being cancelled: afterwards the object is used again.
"""

from hermes_core.kinds.backend import Backend, Process, Workspace
from hermes_core.kinds.beside import Completer, Jobs, Opening, Resource
from hermes_core.kinds.console import Console
from hermes_core.kinds.conversation import (
    Conversation,
    ConversationJobs,
    ConversationModel,
    ConversationQueue,
    ConversationTurn,
)
from hermes_core.kinds.masker import Masker
from hermes_core.kinds.memory import Memory
from hermes_core.kinds.platform import ConsoleDriver, Platform
from hermes_core.kinds.provider import Provider
from hermes_core.kinds.purse import Purse
from hermes_core.kinds.queue import TurnQueue
from hermes_core.kinds.roles import Roles
from hermes_core.kinds.router import Attempt, ModelCall, ModelRoute, RetryLimits, Router
from hermes_core.kinds.secret_source import SecretSource
from hermes_core.kinds.service import Service
from hermes_core.kinds.setup import SetupStep
from hermes_core.kinds.store import StoreDriver
from hermes_core.kinds.tool import Tool, ToolContext, ToolOutput, ToolSource, tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.kinds.fields import LoginPrompt, SetupField

__all__ = [
    "Attempt",
    "Backend",
    "Completer",
    "Console",
    "ConsoleDriver",
    "Conversation",
    "ConversationJobs",
    "ConversationModel",
    "ConversationQueue",
    "ConversationTurn",
    "Jobs",
    "LoginPrompt",
    "Masker",
    "Memory",
    "ModelCall",
    "ModelRoute",
    "Opening",
    "Platform",
    "Process",
    "Provider",
    "Purse",
    "Resource",
    "RetryLimits",
    "Roles",
    "Router",
    "SecretSource",
    "Service",
    "SetupField",
    "SetupStep",
    "StoreDriver",
    "Tool",
    "ToolContext",
    "ToolOutput",
    "ToolSource",
    "TurnQueue",
    "Workspace",
    "tool",
]


def __getattr__(name: str) -> object:
    if name not in ("LoginPrompt", "SetupField"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from hermes_core.kinds import fields

    return getattr(fields, name)
