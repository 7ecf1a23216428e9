"""Jobs and runs in words: a line each, or all about one."""

from hermes_tool_cron.advance import schedule_of
from hermes_tool_cron.schedule import shown
from hermes_tool_cron.values import Job, Run

__all__ = ["about", "line", "next_of", "run_line", "runs_how", "upcoming"]

_SHOWN = 10


def next_of(job: Job) -> str:
    """Say when a job is next, or why it is not."""
    return shown(job.due, job.zone) if job.state == "active" else job.state


def runs_how(job: Job) -> str:
    """Say what a job does, in a few words."""
    if job.options.no_agent:
        return f"$ {job.options.script}"
    return f"{'$ … → ' if job.options.script else ''}{job.prompt}"


def line(job: Job) -> str:
    """A job in a line."""
    what = " ".join(runs_how(job).split())
    return f"{job.name} [{job.id}] · {job.schedule} · {next_of(job)} · {what[:80]}{'…' if len(what) > 80 else ''}"


def run_line(run: Run, zone: str = "UTC") -> str:
    """A run in a line, with the beginning of what it said."""
    said = " ".join((run.why or run.answer).split())
    return f"{shown(run.due, zone)}{' UTC' if zone == 'UTC' else ''} · {run.name} · {run.state} · {said[:160]}"


def about(job: Job) -> str:
    """All about a job, with the instants that come next."""
    options = job.options
    rows = [
        ("job", f"{job.name} [{job.id}], {job.state}{f': {job.why}' if job.why else ''}"),
        ("schedule", f"{job.schedule} ({job.zone})"),
        ("prompt", job.prompt),
        ("script", f"{options.script}{'  (without a model)' if options.no_agent else ''}" if options.script else ""),
        ("deliver", ", ".join(options.deliver) or "local"),
        ("thread", "an answer goes on in the session of its run" if options.thread else ""),
        ("skills", ", ".join(options.skills)),
        ("context", ", ".join(options.context)),
        ("tools", ", ".join(options.tools) if options.tools is not None else ""),
        ("folder", options.folder),
        ("model", " ".join(filter(None, (options.model, options.effort)))),
        ("mode", options.mode if options.mode != "ask" else ""),
        ("grants", ", ".join(options.grants)),
        ("repeat", f"{job.fired} of {options.repeat}" if options.repeat else ""),
        ("jitter", f"up to {options.jitter} s" if options.jitter else ""),
        ("grace", f"{options.grace} s" if options.grace else ""),
        ("next", "; ".join(shown(one, job.zone) for one in upcoming(job))),
    ]
    return "\n".join(f"{name:<9} {text}" for name, text in rows if text)


def upcoming(job: Job, count: int = _SHOWN) -> list[float]:
    """Return the next instants of a job."""
    if job.state != "active" or not job.due:
        return []
    left = min(count, job.options.repeat - job.fired) if job.options.repeat else count
    return [job.due, *schedule_of(job).following(job.due, left - 1)]
