"""Chat with Hermes on Matrix, in encrypted rooms too."""

from collections.abc import Iterable

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.kinds import Platform, SetupStep
from hermes_core.types import Check


@hookimpl
def register_platforms(ctx: PluginContext) -> Iterable[Platform]:
    """The platform ``matrix``."""
    from hermes_platform_matrix.config import Config
    from hermes_platform_matrix.platform import Matrix

    return [Matrix(ctx.config or Config(), ctx.secrets.resolve, ctx.paths.data, ctx.log)]


@hookimpl
def register_checks(ctx: PluginContext) -> Iterable[Check]:
    """What doctor can find out about the account."""
    from hermes_platform_matrix.checks import check_account
    from hermes_platform_matrix.config import Config

    return [check_account(ctx.config or Config(), ctx.secrets.resolve, ctx.paths.data)]


@hookimpl
def register_setup(ctx: PluginContext) -> Iterable[SetupStep]:
    """What is asked to set up an account, and whether it is good."""
    from hermes_platform_matrix.setup import AccountStep

    return [AccountStep()]
