"""The settings of the gateway, and those that every platform has."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Literal

from hermes_core.options import ge, gt, lt, option, settings
from hermes_core.patterns import pattern

__all__ = [
    "PERSON",
    "ChannelSettings",
    "GatewaySettings",
    "HealthSettings",
    "PlatformSettings",
    "ResetSettings",
    "channel_of",
    "listed",
]

PERSON = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")
_PLATFORM = pattern(r"[a-z0-9][a-z0-9_-]*")


def listed(entries: Iterable[str]) -> Iterator[str]:
    """The names in a list; an entry from the environment may hold several, with commas between."""
    for entry in entries:
        yield from filter(None, (name.strip() for name in entry.split(",")))


def _accounts(_instance: Any, _attribute: Any, value: list[str]) -> None:
    for name in listed(value):
        platform, colon, sender = name.partition(":")
        if colon and not (_PLATFORM.fullmatch(platform) and sender):
            raise ValueError(f"{name!r} must begin with its platform, as matrix:@anna:example.org does")


def _persons(_instance: Any, _attribute: Any, value: dict[str, list[str]]) -> None:
    taken: dict[str, str] = {}
    for person, accounts in value.items():
        if not PERSON.fullmatch(person):
            raise ValueError(f"{person!r} cannot be a person's name: lower-case letters, digits, - _ . and no more")
        for name in listed(accounts):
            if ":" not in name:
                raise ValueError(f"{name!r} must be an account with its platform, as telegram:{name}")
            _accounts(None, None, [name])
            if taken.setdefault(name, person) != person:
                raise ValueError(f"{name} cannot be both {taken[name]} and {person}")


@settings
class ChannelSettings:
    """What is special in one chat."""

    prompt: str = option("What the model is told besides, in conversations that begin there.", default="")
    model: str = option("Who answers there, as [provider:]model; /model there is stronger.", default="")


@settings
class PlatformSettings:
    """Who may talk on a platform. The kernel asks this of every platform; what else stands in its section is its own.

    People are named by the ids that the service gives them, as `hermes gateway pair list` and the log show them.
    """

    enabled: bool | None = option(
        "Serve it; empty: when something else stands here, or its secrets are set.", default=None
    )
    allowed_users: list[str] = option(
        "Who may talk, in direct messages and in groups; `*` is everybody.", factory=list, example=["123456789"]
    )
    allowed_chats: list[str] = option(
        "Groups and channels in which everybody may talk; `*` is every group.", factory=list, example=["-100200300"]
    )
    allowed_roles: list[str] = option("Roles, as the service knows them, whose members may talk.", factory=list)
    allow_all_users: bool = option("Let everybody talk. Everybody spends your money then.", default=False)
    admins: list[str] = option(
        "Who may also use the commands that are for admins; they may talk, too.", factory=list, example=["123456789"]
    )
    unknown: Literal["", "pair", "ignore"] = option(
        "What a stranger gets for a direct message: pair is a code to show you, ignore nothing; empty as in "
        "gateway.unknown.",
        default="",
    )
    channels: dict[str, ChannelSettings] = option(
        "What is special in a chat, by its id; CHAT:THREAD in a thread, which else has what its chat has.",
        factory=dict,
        example={"-100200300": {"prompt": "Answer in French."}},
    )
    require_mention: bool = option("In groups, answer only what speaks to the bot.", default=True)
    free_response_chats: list[str] = option(
        "Groups in which everything is answered all the same; `*` is every group.", factory=list
    )


def channel_of(platform: PlatformSettings, chat: str, thread: str) -> ChannelSettings:
    """What is special in a chat or a thread: the thread's own, else the chat's."""
    here = platform.channels.get(chat) or ChannelSettings()
    if not thread or (own := platform.channels.get(f"{chat}:{thread}")) is None:
        return here
    return ChannelSettings(prompt=own.prompt or here.prompt, model=own.model or here.model)


@settings
class ResetSettings:
    """When a chat begins a new conversation by itself."""

    mode: Literal["none", "daily", "idle", "both"] = option(
        "daily: each day at at_hour; idle: after idle_minutes without a word; both; none.", default="none"
    )
    at_hour: int = option("The hour of the day, on this machine's clock.", default=4, validator=[ge(0), lt(24)])
    idle_minutes: int = option("Minutes without a word.", default=1440, validator=ge(1))
    notify: bool = option("Say so when it happens.", default=True)


@settings
class HealthSettings:
    """Probes over HTTP: /healthz says whether the gateway lives, /readyz whether it may be given work."""

    host: str = option("The address to listen at; 0.0.0.0 in a container.", default="127.0.0.1")
    port: int = option("The port; 0: none, nobody is listened to.", default=0, validator=ge(0), example=8644)


@settings
class GatewaySettings:
    """How people are reached on chat services."""

    people: dict[str, list[str]] = option(
        "Which accounts are one person; they may talk. `owner` is you at this machine's terminal.",
        factory=dict,
        example={"owner": ["telegram:123456789"], "anna": ["matrix:@anna:example.org"]},
        validator=_persons,
    )
    allowed_users: list[str] = option(
        "Who may talk on any platform; telegram:123 on that one only; `*` is everybody.",
        factory=list,
        validator=_accounts,
    )
    allow_all_users: bool = option("Let everybody talk, on every platform.", default=False)
    admins: list[str] = option("People who may use the commands that are for admins.", factory=list, example=["anna"])
    unknown: Literal["", "pair", "ignore"] = option(
        "What a stranger gets for a direct message: pair is a code to show you, ignore nothing; empty: pair, and "
        "ignore where somebody is named in a list.",
        default="",
    )
    backend: str = option("The backend for everybody but you; empty: terminal.backend.", default="")
    trusted_with_shell: list[str] = option(
        "People who may run commands on this machine, with your rights; others only in an isolated workspace. "
        "`*` is everybody.",
        factory=list,
        example=["anna"],
    )
    approvals: Literal["admin", "self"] = option(
        "Who says yes to a risky command of somebody else than you: an admin, or they themselves.", default="admin"
    )
    health: HealthSettings = option("Probes over HTTP.", factory=HealthSettings)
    reset: ResetSettings = option("When a chat begins a new conversation by itself.", factory=ResetSettings)
    resets: dict[str, ResetSettings] = option(
        "The same for a platform, or for its dms or groups: telegram, telegram.group.", factory=dict
    )
    group_sessions_per_user: bool = option("In groups everybody has a conversation of their own.", default=True)
    thread_sessions_per_user: bool = option("In threads of groups too.", default=False)
    streaming: bool = option("Show an answer while it is written, where messages can be edited.", default=True)
    tool_progress: Literal["off", "new", "all"] = option(
        "Show which tools are at work there: new leaves out repeated ones, off shows none.", default="new"
    )
    edit_seconds: float = option("Seconds between two edits of one message at least.", default=0.8, validator=gt(0))
    edit_chars: int = option("New characters that make an edit worth while.", default=24, validator=ge(1))
    media_folders: list[str] = option(
        "Folders beside the conversation's own whose files may be sent.", factory=list, example=["/srv/reports"]
    )
    media_max_mb: int = option("Megabytes of one file at most.", default=50, validator=ge(1))
    reactions: bool = option("Mark messages that were heard, where the platform can.", default=True)
    idle_seconds: float = option(
        "Seconds without any sign of life after which a turn is stopped, and its chat told so; 0: never.",
        default=1800.0,
        validator=ge(0),
    )
    drain_seconds: float = option(
        "Seconds running turns have to end when the gateway stops.", default=6.0, validator=ge(0)
    )
    retry_seconds: float = option(
        "The first pause before a platform is tried again; it doubles.", default=30.0, validator=gt(0)
    )
    retry_cap: float = option("The longest such pause.", default=300.0, validator=gt(0))
