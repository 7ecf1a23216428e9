"""The tool ``todo`` for the model, and ``/todo`` for the person."""

from attrs import field

from hermes_core.kinds import Tool, ToolContext, tool
from hermes_core.types import Session, SlashCommand
from hermes_core.values import frozen
from hermes_tool_todo.plan import Change, apply, for_model, for_person
from hermes_tool_todo.store import Plans


@frozen(kw_only=True)
class Todo:
    """What the model asks for. Without ``todos`` it only reads."""

    todos: list[Change] | None = None
    merge: bool = field(default=False, metadata={"help": "update by id, keep the rest"})


def todo_tool(plans: Plans) -> Tool:
    """The tool over all plans; each call sees its own session's."""

    # No effect: a plan is the session's own state, like its history. It reaches no later session and nobody else.
    @tool(name="todo", toolset="todo", idempotent=True, touches=lambda _: ("todo",))
    async def run(context: ToolContext, wanted: Todo) -> str:
        """Your plan for work of three or more steps, one in_progress. No arguments reads it."""
        changes = wanted.todos
        if changes is None:
            return for_model(await plans.read(context.session))
        plan = await plans.change(
            context.session,
            lambda before: apply(before, changes, merge=wanted.merge),
            anew=not wanted.merge,
        )
        return for_model(plan)

    return run


def todo_command(plans: Plans) -> SlashCommand:
    """``/todo``: the plan of the conversation it is typed into."""

    async def show(session: Session, _rest: str) -> str:
        return for_person(await plans.read(session))

    return SlashCommand(name="todo", run=show)
