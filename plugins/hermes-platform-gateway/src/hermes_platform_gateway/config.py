"""The settings of the gateway as its parts ask for them, as they are now."""

from collections.abc import Callable

from hermes_core.config.gateway import (
    PERSON,
    ChannelSettings,
    GatewaySettings,
    HealthSettings,
    PlatformSettings,
    ResetSettings,
    channel_of,
    listed,
)
from hermes_core.context import PluginContext

__all__ = [
    "PERSON",
    "ChannelSettings",
    "GatewaySettings",
    "HealthSettings",
    "PlatformSettings",
    "ResetSettings",
    "channel_of",
    "gateway_settings",
    "listed",
    "mask_of",
    "platform_settings",
]


def gateway_settings(ctx: PluginContext) -> GatewaySettings:
    """What the person set for the gateway."""
    found: GatewaySettings = ctx.host.section("gateway")
    return found


def platform_settings(ctx: PluginContext, platform: str) -> PlatformSettings:
    """Who may talk on a platform. Raises ConfigError."""
    found: PlatformSettings = ctx.host.section(f"platforms.{platform}")
    return found


def mask_of(ctx: PluginContext) -> Callable[[str], str]:
    """What takes secrets out of texts, where the person wants that."""
    return ctx.masks.text if ctx.host.section("security").redact_secrets else str
