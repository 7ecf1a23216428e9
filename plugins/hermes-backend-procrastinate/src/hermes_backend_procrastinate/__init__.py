"""Hands turns to workers on any number of machines."""

from collections.abc import Iterable

from hermes_core import hookimpl
from hermes_core.context import PluginContext
from hermes_core.kinds import TurnQueue


@hookimpl
def register_queues(ctx: PluginContext) -> Iterable[TurnQueue]:
    """The queue ``procrastinate``."""
    from hermes_backend_procrastinate.config import Config
    from hermes_backend_procrastinate.queue import ProcrastinateQueue

    return [ProcrastinateQueue(ctx.store.address, ctx.config or Config(), ctx.log)]
