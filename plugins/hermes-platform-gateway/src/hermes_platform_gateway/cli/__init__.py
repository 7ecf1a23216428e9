"""The commands of a terminal that keep the gateway up, and say who may write to it."""

from collections.abc import Iterable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from hermes_core.types import Command

if TYPE_CHECKING:
    import click

    from hermes_core.context import PluginContext

__all__ = ["commands"]

_COMMANDS = {  # name -> (module, what makes it)
    "run": ("serving", "make_run"),
    "work": ("serving", "make_work"),
    "start": ("processes", "make_start"),
    "stop": ("processes", "make_stop"),
    "status": ("processes", "make_status"),
    "pair": ("pairing", "make_pair"),
    "channels": ("channels", "make_channels"),
    "dead": ("dead", "make_dead"),
    "install": ("systemd", "make_install"),
    "uninstall": ("systemd", "make_uninstall"),
}

_PEOPLE = {
    "people": ("people", "make_people"),
    "people list": ("people", "make_list"),
    "people show": ("people", "make_show"),
    "people block": ("people", "make_block"),
    "people unblock": ("people", "make_unblock"),
    "people mute": ("people", "make_mute"),
    "people invite": ("people", "make_invite"),
    "people quiet": ("quiet", "make_quiet"),
}


def commands(ctx: "PluginContext") -> Iterable[Command]:
    """``gateway run`` and the others; each is imported when it is made."""

    def build(module: str, maker: str) -> "click.Command":
        made: click.Command = getattr(import_module(f"{__name__}.{module}"), maker)(ctx)
        return made

    served = [Command(name=f"gateway {name}", build=partial(build, *where)) for name, where in _COMMANDS.items()]
    return [*served, *(Command(name=name, build=partial(build, *where)) for name, where in _PEOPLE.items())]
