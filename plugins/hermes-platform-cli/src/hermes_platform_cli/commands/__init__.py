"""The commands of a terminal: what is set up, was said, waits for a yes. Each is put together when it is used."""

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.types import Command

if TYPE_CHECKING:
    import click

# words -> where it is made, below this package
_MADE = {
    "chat": "chat:make_chat",
    "resume": "resume:make_resume",
    "sessions list": "sessions:make_list",
    "sessions show": "sessions:make_show",
    "sessions search": "sessions:make_search",
    "sessions export": "sessions:make_export",
    "sessions rename": "sessions:make_rename",
    "sessions archive": "sessions:make_archive",
    "sessions unarchive": "sessions:make_unarchive",
    "sessions delete": "sessions:make_delete",
    "sessions prune": "sessions:make_prune",
    "help": "help:make_help",
    "insights": "usage:make_insights",
    "logs": "logs:make_logs",
    "approvals": "approvals:make_approvals",
    "approvals list": "approvals:make_list",
    "approvals show": "approvals:make_show",
    "approvals allow": "approvals:make_allow",
    "approvals deny": "approvals:make_deny",
    "grants": "grants:make_grants",
    "grants list": "grants:make_list",
    "grants forget": "grants:make_forget",
    "tools": "tools:make_tools",
    "tools list": "tools:make_list",
    "tools enable": "tools:make_enable",
    "tools disable": "tools:make_disable",
    "tools history": "tools:make_history",
    "status": "status:make_status",
    "setup": "setup:make_setup",
    "model": "model:make_model",
    "model show": "model:make_show",
    "model list": "model:make_list",
    "model keys": "model:make_keys",
    "model choose": "model:make_choose",
    "config show": "settings:make_show",
    "config path": "settings:make_path",
    "config env-path": "settings:make_env_path",
    "config schema": "schema:make_schema",
    "config edit": "settings:make_edit",
    "dump": "dump:make_dump",
    "update": "update:make_update",
    "plugins install": "packages:make_install",
    "plugins remove": "packages:make_remove",
    "plugins sync": "packages:make_sync",
    "prompt-size": "prompt_size:make_prompt_size",
}


def commands(ctx: PluginContext) -> Iterator[Command]:
    """All of them."""
    for words, place in _MADE.items():
        yield Command(name=words, build=partial(_built, place, ctx))


def _built(place: str, ctx: PluginContext) -> "click.Command":
    module, _, name = place.partition(":")
    make: Callable[[PluginContext], click.Command] = getattr(import_module(f"{__name__}.{module}"), name)
    return make(ctx)
