"""``hermes kanban``: what a person does with boards at a terminal."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.types import Command

if TYPE_CHECKING:
    import click

__all__ = ["commands"]


def commands(ctx: PluginContext) -> Sequence[Command]:
    """All of them; each is made when it is used."""
    from hermes_tool_kanban.commands import filing, looking, making, running, sending

    made: dict[str, Callable[[PluginContext], click.Command]] = {
        "boards": making.make_boards,
        "create": making.make_create,
        "edit": making.make_edit,
        "decompose": making.make_decompose,
        "swarm": making.make_swarm,
        "list": looking.make_list,
        "board": looking.make_board,
        "show": looking.make_show,
        "runs": looking.make_runs,
        "tail": looking.make_tail,
        "stats": looking.make_stats,
        "assignees": looking.make_assignees,
        "assign": sending.make_assign,
        "link": sending.make_link,
        "unlink": sending.make_unlink,
        "promote": sending.make_promote,
        "schedule": sending.make_schedule,
        "block": sending.make_block,
        "unblock": sending.make_unblock,
        "complete": sending.make_complete,
        "approve": sending.make_approve,
        "reject": sending.make_reject,
        "reclaim": sending.make_reclaim,
        "claim": sending.make_claim,
        "release": sending.make_release,
        "archive": sending.make_archive,
        "reopen": sending.make_reopen,
        "comment": filing.make_comment,
        "attach": filing.make_attach,
        "attachments": filing.make_attachments,
        "gc": filing.make_gc,
        "dispatch": running.make_dispatch,
        "daemon": running.make_daemon,
    }
    return [Command(name=f"kanban {name}", build=partial(make, ctx)) for name, make in made.items()]
