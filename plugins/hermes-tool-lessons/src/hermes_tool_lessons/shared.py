"""What the parts of the plugin share in one kernel, found without importing what is not needed."""

from types import ModuleType

from hermes_core.context import PluginContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_tool_lessons.config import Config
    from hermes_tool_lessons.ledger import Ledger
    from hermes_tool_lessons.queue import Queue
    from hermes_tool_lessons.reviewing import Reviewer
    from hermes_tool_lessons.rows import Lessons
    from hermes_tool_lessons.selecting import Selector

__all__ = ["config_of", "hearing", "is_on", "is_used", "ledger_of", "queue_of", "reviewer_of", "rows_of",
           "selector_of", "warm"]  # fmt: skip


def config_of(ctx: PluginContext) -> "Config":
    """Return the settings."""
    from hermes_tool_lessons.config import Config

    found: Config = ctx.config or Config()
    return found


def is_on(ctx: PluginContext) -> bool:
    """Tell whether anything is learned here: nobody learns who was not told to."""
    return ctx.config is not None and ctx.config.mode != "off"


def rows_of(ctx: PluginContext) -> "Lessons":
    """Return the lessons of this home."""
    if "lessons" not in ctx.state:
        from hermes_tool_lessons.rows import Lessons

        ctx.state["lessons"] = Lessons(ctx.store)
    found: Lessons = ctx.state["lessons"]
    return found


def ledger_of(ctx: PluginContext) -> "Ledger":
    """Return what happened in this home."""
    if "ledger" not in ctx.state:
        from hermes_tool_lessons.ledger import Ledger

        ctx.state["ledger"] = Ledger(ctx.store)
    found: Ledger = ctx.state["ledger"]
    return found


def queue_of(ctx: PluginContext) -> "Queue":
    """Return the reviews that wait in this home."""
    if "queue" not in ctx.state:
        from hermes_tool_lessons.queue import Queue

        ctx.state["queue"] = Queue(ctx.store)
    found: Queue = ctx.state["queue"]
    return found


def reviewer_of(ctx: PluginContext) -> "Reviewer":
    """Return who reviews in this process."""
    if "reviewer" not in ctx.state:
        from hermes_tool_lessons.reviewing import Reviewer

        ctx.state["reviewer"] = Reviewer(ctx)
    found: Reviewer = ctx.state["reviewer"]
    return found


def selector_of(ctx: PluginContext) -> "Selector":
    """Return who finds lessons for messages in this process."""
    if "selector" not in ctx.state:
        from hermes_tool_lessons.selecting import Selector

        ctx.state["selector"] = Selector(rows_of(ctx), ledger_of(ctx))
    found: Selector = ctx.state["selector"]
    return found


def warm(ctx: PluginContext) -> None:
    """Have imported beside whatever comes next what the first turn needs: to import SQLAlchemy takes a while."""
    if "warm" not in ctx.state and is_used(ctx):
        import asyncio
        from importlib import import_module

        loading = asyncio.to_thread(import_module, "hermes_tool_lessons.queue")
        ctx.state["warm"] = asyncio.create_task(loading, name="imports of lessons")


def hearing() -> ModuleType:
    """Return what hears of turns: where nothing is learned it is not imported."""
    from hermes_tool_lessons import hearing

    return hearing


def is_used(ctx: PluginContext) -> bool:
    """Tell whether this home ever learned anything, or its tables were opened here."""
    from hermes_tool_kit import used

    return used.is_used(ctx, "lessons")
