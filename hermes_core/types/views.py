"""What is laid out for a person: choices, models, settings, tools, work that runs, what was spent."""

from collections.abc import Mapping, Sequence
from typing import Literal

from attrs import Factory

from hermes_core.types.base import JSON, Effect, Feature
from hermes_core.types.model import Model, Price, Usage
from hermes_core.types.work import Wall
from hermes_core.values import frozen

__all__ = [
    "BackendRow", "Choice", "ConversationState", "Job", "KeyRow", "ModelRow", "ProviderRow", "SecretOrigin", "Setting",
    "ToolRow", "UsageRow",
]  # fmt: skip


@frozen
class Choice:
    """One way to go on with what is being typed. ``replaces``: characters before the cursor that ``text`` stands for.

    One that is not ``final`` goes on, as a folder does.
    """

    text: str
    summary: str = ""
    replaces: int = 0
    final: bool = True


@frozen(kw_only=True)
class ProviderRow:
    """A provider that is installed. ``rules`` are no model: they answer when there is none."""

    name: str
    ready: bool
    kind: Literal["hosted", "local", "rules"]


@frozen(kw_only=True)
class ModelRow:
    """A model somebody offers, and what it costs as far as anybody knows. ``notice``: what a person should know."""

    provider: str
    model: Model
    price: Price | None = None
    notice: str = ""


@frozen(kw_only=True)
class Setting:
    """One setting: its dotted key, what may be set as JSON Schema, and how it stands.

    ``value`` is what is in force, with secrets hidden; ``written`` says that the person set it, ``locked`` who does
    not let it be changed: this program, or the file of an administrator. ``type`` is the schema in words.
    """

    key: str
    type: str
    schema: Mapping[str, JSON]
    default: JSON
    value: JSON
    help: str
    secret: bool = False
    written: bool = False
    locked: str = ""


@frozen(kw_only=True)
class ToolRow:
    """A tool that is there. ``off``: it is switched off. ``hidden`` says why a new conversation is not told of it."""

    name: str
    toolset: str
    description: str
    effects: frozenset[Effect]
    off: bool = False
    hidden: str = ""


@frozen(kw_only=True)
class Job:
    """A child agent or process beside a conversation; where ``session_id`` is its own, what orders turns in it.

    ``id`` names it for whoever runs it, ``since`` is when it began; ``last`` is the last it said or did.
    """

    id: str
    kind: Literal["agent", "process", "other"]
    title: str
    since: float
    state: str = "running"
    last: str = ""
    session_id: str = ""
    usage: Usage = Factory(Usage)


@frozen(kw_only=True)
class UsageRow:
    """What one model was used for on one day (``YYYY-MM-DD``, local time). An empty ``task`` is the conversation.

    ``turns`` are those in which it answered; ``unpriced`` the calls whose cost nobody knows.
    """

    day: str
    provider: str
    model: str
    task: str
    turns: int
    usage: Usage
    estimated: float
    unpriced: int


@frozen(kw_only=True)
class ConversationState:
    """How a conversation is: who answers in it and how, whether a turn runs (``working``), how many messages wait.

    ``endpoint`` is the URL of who answers where the person set one, ``window`` how many tokens fit, 0 when nobody
    knows; ``store`` is where it is kept. ``services`` says how each chat service is, where an admin asks in a chat.
    ``wall`` is what bounds its commands, None before their place was opened.
    """

    provider: str
    model: str
    effort: str
    mode: str
    working: bool
    waiting: int
    endpoint: str
    window: int
    store: str
    services: Sequence[str] = ()
    wall: Wall | None = None


@frozen(kw_only=True)
class KeyRow:
    """A key as lists show it, never the key; ``left`` is seconds until a resting one is used again."""

    provider: str
    source: str
    fingerprint: str
    state: Literal["ok", "resting", "dead", "missing"]
    left: float = 0.0
    reason: str = ""
    uses: int = 0


@frozen(kw_only=True)
class SecretOrigin:
    """Who has a secret: the environment, ``.env``, SOURCE:REFERENCE, or a source that gives whatever it has.

    That one has a row with the name ``*``, too. ``problem`` says why it is not to be had.
    """

    name: str
    source: str
    problem: str = ""


@frozen(kw_only=True)
class BackendRow:
    """A place where commands can run: its ``plugin``, whether it is ``ready`` here, what it says of its ``wall``."""

    name: str
    plugin: str
    ready: bool
    features: frozenset[Feature]
    wall: Wall | None = None
