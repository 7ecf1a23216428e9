"""A Telegram bot."""

from collections.abc import Iterable

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.kinds import Platform, SetupStep
from hermes_core.types import Check

__all__ = ["register_checks", "register_platforms", "register_setup"]


@hookimpl
def register_platforms(ctx: PluginContext) -> Iterable[Platform]:
    """The platform ``telegram``."""
    from hermes_platform_telegram.config import Config
    from hermes_platform_telegram.platform import Telegram

    return [Telegram(ctx.config or Config(), ctx.secrets, ctx.paths, ctx.log)]


@hookimpl
def register_checks(ctx: PluginContext) -> Iterable[Check]:
    """What doctor can find out about the bot."""
    from hermes_platform_telegram.checks import check_bot
    from hermes_platform_telegram.config import Config

    return [check_bot(ctx.config or Config(), ctx.secrets)]


@hookimpl
def register_setup(ctx: PluginContext) -> Iterable[SetupStep]:
    """What is asked to set up a bot, and whether it is good."""
    from hermes_platform_telegram.config import Config
    from hermes_platform_telegram.setup import BotStep

    return [BotStep(ctx.config or Config(), ctx.secrets)]
