"""The settings of the gateway."""

import re
from collections.abc import Callable
from typing import Any, Literal

from hermes_core.context import PluginContext
from hermes_core.options import ge, gt, listed, lt, option, settings
from hermes_core.patterns import pattern
from hermes_core.platforms import ChannelSettings, PlatformSettings

__all__ = [
    "PERSON", "GatewaySettings", "HealthSettings", "LimitSettings", "PeerSettings",
    "ResetSettings", "channel_of", "gateway_settings",
    "mask_of", "platform_settings",
]  # fmt: skip

PERSON = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")
_PLATFORM = pattern(r"[a-z0-9][a-z0-9_-]*")


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


def _slow(_instance: Any, _attribute: Any, value: dict[str, float]) -> None:
    for place, seconds in value.items():
        if not _PLATFORM.fullmatch(place.partition(":")[0]):
            raise ValueError(f"{place!r} must be a platform, or a chat of one, as telegram or telegram:-100123")
        if seconds < 0:
            raise ValueError(f"{place}: {seconds:g} seconds are less than none")


@settings
class LimitSettings:
    """What one person may have at a time, over all places, so that others need not wait. 0: no limit."""

    turns: int = option("Turns of one person that run side by side.", default=4, validator=ge(0))
    owner_turns: int = option("The same for you, the owner.", default=64, validator=ge(0))
    waiting: int = option("Messages of one person that wait; not of yours.", default=200, validator=ge(0))
    questions: int = option(
        "Questions for a yes that are open of one person's turns; more are a no. Not of yours.",
        default=30,
        validator=ge(0),
    )
    files: int = option("Files of one person in an hour; not of yours.", default=60, validator=ge(0))
    files_mb: int = option("Megabytes of them in an hour; not of yours.", default=500, validator=ge(0))
    slow: dict[str, float] = option(
        "Seconds between two messages of one person in a chat, by platform or PLATFORM:CHAT; admins are free of it. "
        "An admin changes it in a chat by /slow.",
        factory=dict,
        example={"telegram:-1001234567890": 30.0},
        validator=_slow,
    )


@settings
class PeerSettings:
    """Other agents of yours in groups, as ``platforms.NAME.peers`` names them."""

    hops: int = option(
        "How often other agents are answered in a chat before a person has to speak; 0: never.",
        default=4,
        validator=ge(0),
    )
    seconds: float = option(
        "Seconds at least between two answers to other agents in a chat.", default=3.0, validator=ge(0)
    )


def _moved(_instance: Any, attribute: Any, value: object) -> None:
    if value is not None:
        raise ValueError(f"it is roles.{attribute.name} now")


@settings
class GatewaySettings:
    """How people are reached on chat services."""

    people: dict[str, list[str]] = option(
        "Which accounts are one person; they may talk. `owner` is you at this machine's terminal.",
        factory=dict,
        example={"owner": ["telegram:123456789"], "anna": ["matrix:@anna:example.org"]},
        validator=_persons,
        ids=True,
    )
    allowed_users: list[str] = option(
        "Who may talk on any platform; telegram:123 on that one only; `*` is everybody.",
        factory=list,
        validator=_accounts,
        ids=True,
    )
    allow_all_users: bool = option("Let everybody talk, on every platform.", default=False)
    admins: list[str] = option(
        "People who may use the commands that are for admins.", factory=list, example=["anna"], ids=True
    )
    unknown: Literal["", "pair", "ignore"] = option(
        "What a stranger gets for a direct message: pair is a code to show you, ignore nothing; empty: pair, and "
        "ignore where somebody is named in a list.",
        default="",
    )
    limits: LimitSettings = option("What one person may have at a time.", factory=LimitSettings)
    peers: PeerSettings = option("Several agents in one group.", factory=PeerSettings)
    health: HealthSettings = option("Probes over HTTP.", factory=HealthSettings)
    reset: ResetSettings = option("When a chat begins a new conversation by itself.", factory=ResetSettings)
    resets: dict[str, ResetSettings] = option(
        "The same for a platform, or for its dms or groups: telegram, telegram.group.", factory=dict
    )
    group_sessions_per_user: bool = option("In groups everybody has a conversation of their own.", default=True)
    thread_sessions_per_user: bool = option("In threads of groups too.", default=False)
    shared_changes: Literal["admins", "everyone"] = option(
        "Who may use commands that change a conversation for all who share it, as /new, /undo and /model do: admins "
        "(yours, and those of the group), or everyone in it.",
        default="admins",
    )
    private_answers: bool = option(
        "Answer in the person's private chat what a command in a group asks about that person.", default=True
    )
    tell_groups: bool = option(
        "Say at the first message in a group whose history a conversation there knows.", default=True
    )
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
        "The first pause before a platform is tried again; it doubles.", default=2.0, validator=gt(0)
    )
    retry_cap: float = option("The longest such pause.", default=300.0, validator=gt(0))
    backend: str | None = option("It is roles.backend now.", default=None, validator=_moved)
    trusted_with_shell: list[str] | None = option("It is roles.trusted_with_shell now.", default=None, validator=_moved)
    approvals: str | None = option("It is roles.approvals now.", default=None, validator=_moved)


def channel_of(platform: PlatformSettings, chat: str, thread: str) -> ChannelSettings:
    """What is special in a chat or a thread: the thread's own, else the chat's."""
    here = platform.channels.get(chat) or ChannelSettings()
    if not thread or (own := platform.channels.get(f"{chat}:{thread}")) is None:
        return here
    return ChannelSettings(prompt=own.prompt or here.prompt, model=own.model or here.model)


def gateway_settings(ctx: PluginContext) -> GatewaySettings:
    """What the person set for the gateway."""
    found: GatewaySettings = ctx.config
    return found


def platform_settings(ctx: PluginContext, platform: str) -> PlatformSettings:
    """Who may talk on a platform. Raises ConfigError."""
    found: PlatformSettings = ctx.host.section(f"platforms.{platform}")
    return found


def mask_of(ctx: PluginContext) -> Callable[[str], str]:
    """What takes secrets out of texts, where the person wants that."""
    return ctx.masks.text if ctx.host.section("security").redact_secrets else str
