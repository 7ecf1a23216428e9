"""The settings of the gateway."""

from typing import Literal

from hermes_core.options import ge, gt, option, settings

__all__ = ["GatewaySettings", "ResetSettings"]


@settings
class ResetSettings:
    """When a chat begins a new conversation by itself."""

    mode: Literal["none", "daily", "idle", "both"] = option(
        "daily: each day at at_hour; idle: after idle_minutes without a word; both; none.", default="none"
    )
    at_hour: int = option("The hour of the day, on this machine's clock.", default=4, validator=ge(0))
    idle_minutes: int = option("Minutes without a word.", default=1440, validator=ge(1))
    notify: bool = option("Say so when it happens.", default=True)


@settings
class GatewaySettings:
    """How people are reached on chat services."""

    reset: ResetSettings = option("When a chat begins a new conversation by itself.", factory=ResetSettings)
    resets: dict[str, ResetSettings] = option(
        "The same for a platform, or for its dms or groups: telegram, telegram.group.", factory=dict
    )
    group_sessions_per_user: bool = option("In groups everybody has a conversation of their own.", default=True)
    thread_sessions_per_user: bool = option("In threads of groups too.", default=False)
    reactions: bool = option("Mark messages that were heard, where the platform can.", default=True)
    drain_seconds: float = option(
        "Seconds running turns have to end when the gateway stops.", default=8.0, validator=ge(0)
    )
    retry_seconds: float = option(
        "The first pause before a platform is tried again; it doubles.", default=30.0, validator=gt(0)
    )
    retry_cap: float = option("The longest such pause.", default=300.0, validator=gt(0))
