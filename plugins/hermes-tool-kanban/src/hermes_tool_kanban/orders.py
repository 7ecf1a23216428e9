"""What a claim asks of the kernel: one turn to work in, and one for each reminder, in the same session."""

from attrs import evolve

from hermes_core.types import Effect, TurnBounds, TurnOrder
from hermes_tool_kanban.briefing import system_of
from hermes_tool_kanban.config import Config, WorkerSettings
from hermes_tool_kanban.values import Run, Task

__all__ = ["OWN_FOLDER", "event_of", "order_of", "worker_of"]

OWN_FOLDER = "~"  # that which its person has here
_NEVER = (Effect.SCHEDULE, Effect.CONFIGURE)  # nothing that runs by itself changes what runs by itself
_LOOKS = (*_NEVER, Effect.WRITE_FILES, Effect.REMEMBER, Effect.SEND)  # who reviews changes nothing by a tool
_WITHOUT = ("cron", "clarify", "message")  # what it has to say goes to its task; words are asked of nobody
_WORKERS, _REVIEWERS = (
    ("kanban_review",),
    ("kanban_complete", "kanban_block", "kanban_handoff", "kanban_create", "kanban_link"),
)


def event_of(run: Run) -> str:
    """Return the name under which the turn of a claim is ordered, once: the work, or the reminder it is at."""
    return f"{run.id}/{f'nudge{run.nudges}' if run.nudges else 'work'}"


def worker_of(config: Config, run: Run) -> WorkerSettings:
    """Return how a worker is set up; who is not is as every conversation."""
    return config.workers.get(run.worker) or WorkerSettings()


def order_of(task: Task, run: Run, config: Config, ask: str) -> TurnOrder:
    """Return how the next turn of a claim is played."""
    worker, options = worker_of(config, run), task.options
    tools = None if worker.tools is None else (*worker.tools, "kanban")
    skills = dict.fromkeys((*worker.skills, *(options.skills if run.role == "work" else ())))
    reviews = run.role == "review"
    order = TurnOrder(
        event=event_of(run),
        model=worker.model if reviews else options.model or worker.model,
        effort=worker.effort if reviews else options.effort or worker.effort,
        ask=ask,
        bounds=TurnBounds(
            tools=tools,
            without=(*_WITHOUT, *(_REVIEWERS if reviews else _WORKERS)),
            never=_LOOKS if reviews else _NEVER,
            mode=config.mode,
            grants=() if reviews else tuple(options.grants),
            calls=options.calls or config.calls,
            seconds=float(options.seconds or config.seconds),
        ),
    )
    if run.session:
        return evolve(order, session=run.session)
    return evolve(order, system=system_of(task, run, worker.instructions, tuple(skills)),
                  folder="" if run.folder == OWN_FOLDER else run.folder)  # fmt: skip
