"""What is said of a run, to whom, and when nothing is said."""

import re

from hermes_tool_cron.schedule import shown
from hermes_tool_cron.values import Job, Run
from hermes_tool_kit.telling import Happened

__all__ = ["cut", "failure_of", "is_quiet", "message_of"]

_QUIET = re.compile(r"[\[(*`_\s]*(?:SILENT|NO_REPLY)[\])*`_.\s]*")
_LOUD = {
    "failed": "The job {name} failed",
    "interrupted": "The job {name} was stopped before it was done",
    "missed": "The job {name} was not run",
}
_LONGEST = 40_000  # characters of what is delivered; the chats cut that into messages


def is_quiet(answer: str) -> bool:
    """Tell whether an answer wants not to be told: it says so alone, or in its first or last line."""
    lines = answer.strip().splitlines()
    return not lines or any(_QUIET.fullmatch(line) for line in (lines[0], lines[-1]))


def message_of(job: Job, run: Run, *, wrap: bool, program: str) -> str:
    """Return what is delivered of a run that is over."""
    when = shown(run.due, job.zone)
    if run.state in _LOUD:
        head = _LOUD[run.state].format(name=job.name)
        more = f"\n\n{cut(run.answer.strip(), 2000)}" if run.answer.strip() else ""
        return f"{head} ({when}): {run.why or 'nobody knows why'}.{more}\n\n`{program} cron runs {job.name}` has more."
    text = cut((run.shown or run.answer).strip(), _LONGEST)
    return f"**{job.name}** ({when})\n\n{text}" if wrap else text


def failure_of(run: Run) -> Happened:
    """Return what other plugins may be told of a run that failed, was stopped, or was missed for good."""
    data = {"job": run.name, "run": run.id, "state": run.state, "due": run.due, "session": run.session}
    text = "\n".join(filter(None, (run.why, run.answer.strip())))
    title = _LOUD[run.state].format(name=run.name)
    return Happened(
        name="job.failed", about=run.id, when=run.ended, title=title, person=run.person, data=data, text=text
    )


def cut(text: str, most: int) -> str:
    """Return the beginning of a text that is too long, and say that it is."""
    return text if len(text) <= most else f"{text[:most].rstrip()}… ({len(text):,} characters in all)"
