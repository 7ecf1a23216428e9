"""The words all other values are made of."""

from collections.abc import Mapping
from enum import Enum
from typing import Any, Literal, TypeAlias

JSON: TypeAlias = Any  # None, bool, int, float, str, list of JSON, dict of str to JSON; a recursive alias buys nothing
Meta: TypeAlias = Mapping[str, JSON]

Role = Literal["system", "user", "assistant", "tool"]
StopReason = Literal["stop", "tools", "length", "refused"]
Outcome = Literal["deny", "ask", "allow"]


class Feature(Enum):
    """Something a model, platform or workspace says it can do. The contract kit fails a claim that is not kept."""

    # models
    TOOLS = "tools"
    REASONING = "reasoning"
    IMAGES = "images"
    EMBED = "embed"
    SEE = "see"
    DRAW = "draw"
    SPEAK = "speak"
    TRANSCRIBE = "transcribe"
    # workspaces
    PERSISTENT_SHELL = "persistent_shell"  # cwd and environment last from one ("bash", "-c", …) to the next
    BACKGROUND = "background"
    ISOLATED = "isolated"  # nothing done inside reaches the machine that Hermes runs on
    WALLED = "walled"  # the system bounds what is done inside, as ``Workspace.wall`` says
    OFFLINE = "offline"  # nothing done inside reaches the network
    FOLDERS = "folders"  # further folders can be reached there: ``also`` of ``Backend.open``
    LOCAL = "local"  # its files are files of the machine that Hermes runs on, under the same paths
    # platforms
    EDIT = "edit"
    DELETE = "delete"
    TYPING = "typing"
    MEDIA = "media"
    BUTTONS = "buttons"
    THREADS = "threads"
    REACTIONS = "reactions"
    VOICE = "voice"
    POLLS = "polls"
    LOCATIONS = "locations"
    MEMBERS = "members"
    LEAVE = "leave"
    IDEMPOTENT = "idempotent"  # a send that is repeated with its key is seen once
    LIVE = "live"  # wants every event of a turn as it happens, through Platform.show


class Effect(Enum):
    """What a tool may do to the world. The policy point decides on these, never on a tool's name."""

    READ_FILES = "read_files"
    WRITE_FILES = "write_files"
    EXECUTE = "execute"
    NETWORK = "network"
    SEND = "send"
    REMEMBER = "remember"
    RECALL = "recall"  # reads what was remembered or said before
    SCHEDULE = "schedule"
    ASK = "ask"
    CONFIGURE = "configure"
    DELEGATE = "delegate"  # hands work to child agents: turns that work for its call


Effects: TypeAlias = frozenset[Effect]
