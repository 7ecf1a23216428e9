"""Services that people log in to, instead of a key."""

from collections.abc import Iterable, Sequence

from hermes_core.context import PluginContext
from hermes_core.hooks import hookimpl
from hermes_core.kinds import Masker, Provider, SetupStep
from hermes_core.types import Check, Command


@hookimpl
def register_providers(ctx: PluginContext) -> Iterable[Provider]:
    """Make the providers, under their names and aliases."""
    from hermes_provider_subscriptions.provider import all_providers

    return all_providers(ctx)


@hookimpl
def register_maskers(ctx: PluginContext) -> Iterable[Masker]:
    """Say what keeps their tokens out of texts."""
    from hermes_provider_subscriptions.masker import Tokens

    return [Tokens(ctx)]


@hookimpl
def register_setup(ctx: PluginContext) -> Iterable[SetupStep]:
    """Say how each is set up: by logging in, tested by asking for its models."""
    from hermes_provider_subscriptions.setup import all_steps

    return all_steps(ctx)


@hookimpl
def register_cli_commands(ctx: PluginContext) -> Sequence[Command]:
    """Give ``hermes auth …``."""
    from hermes_provider_subscriptions.commands import commands

    return commands(ctx)


@hookimpl
def register_checks(ctx: PluginContext) -> Sequence[Check]:
    """Say whether each login counts."""
    from hermes_provider_subscriptions.checks import checks

    return checks(ctx)
