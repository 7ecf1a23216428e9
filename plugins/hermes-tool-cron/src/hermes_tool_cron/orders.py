"""What a run asks of the kernel: one turn for its script, one for its prompt."""

from collections.abc import Sequence
from typing import Literal

from hermes_core.types import Effect, Message, Part, Text, TurnBounds, TurnOrder
from hermes_tool_cron.config import Config
from hermes_tool_cron.schedule import shown
from hermes_tool_cron.script import MODEL, order_of
from hermes_tool_cron.telling import cut
from hermes_tool_cron.values import Job, Run

__all__ = ["agent_order", "event_of", "prompt_of", "script_order"]

_NEVER = (Effect.SCHEDULE, Effect.CONFIGURE)  # nothing that runs by itself changes when it runs, or how
_WITHOUT = ("cron", "clarify", "message")  # what it says goes to its targets; words are asked of nobody
_LONGEST = 20_000  # characters of what a script or another job said


def event_of(run: Run, stage: str) -> str:
    """Return the name under which a turn of a run is ordered, once."""
    return f"{run.id}/{stage}"


def script_order(job: Job, run: Run, config: Config, ask: str) -> tuple[str, TurnOrder]:
    """Return what runs the script of a job."""
    return order_of(job.options.script), TurnOrder(
        event=event_of(run, "script"),
        model=MODEL,
        folder=job.options.folder,
        ask=ask,
        hidden=not job.options.no_agent,
        bounds=TurnBounds(
            tools=["terminal/terminal"],
            never=_NEVER,
            mode=_mode(job, config),
            grants=tuple(job.options.grants),
            levels=0,
        ),
    )


def agent_order(job: Job, run: Run, config: Config, ask: str) -> TurnOrder:
    """Return how the prompt of a job is answered."""
    options = job.options
    return TurnOrder(
        event=event_of(run, "agent"),
        system=_system(job, run),
        model=options.model,
        effort=options.effort,
        folder=options.folder,
        ask=ask,
        bounds=TurnBounds(
            tools=None if options.tools is None else tuple(options.tools),
            without=_WITHOUT,
            never=_NEVER,
            mode=_mode(job, config),
            grants=tuple(options.grants),
            calls=options.calls or config.calls,
            money=options.money,
        ),
    )


def prompt_of(job: Job, quoted: Sequence[tuple[str, str]], *, outside: bool) -> str | Message:
    """Return the prompt, and what it was told beside: what a script printed, what other jobs said last."""
    if not quoted:
        return job.prompt
    parts: list[Part] = [Text(text=job.prompt)]
    parts += [Text(text=f"\n\n{name}:\n{cut(text, _LONGEST)}", quotes=name) for name, text in quoted]
    return Message(role="user", parts=tuple(parts), untrusted=outside)


def _mode(job: Job, config: Config) -> Literal["ask", "smart", "off"]:
    """Return the mode of a job, or what the settings have by now, where that is narrower."""
    modes: tuple[Literal["ask", "smart", "off"], ...] = ("ask", "smart", "off")  # strictest first
    return next((mode for mode in modes if mode in (job.options.mode, config.mode)), "ask")


def _system(job: Job, run: Run) -> str:
    where = ", ".join(one for one in job.options.deliver if one != "local") or "the history of the job"
    lines = [
        f"This is the scheduled run of the job {job.name!r} of {shown(run.due, job.zone, year=True)}.",
        f"Nobody is here to talk to: do the task now, and answer with the result alone. It goes to {where}.",
        "Where there is nothing worth telling, answer [SILENT] and nothing else.",
    ]
    if job.options.skills:
        lines.append(f"Before you begin, load and follow these skills: {', '.join(job.options.skills)}.")
    return "\n".join(lines)
