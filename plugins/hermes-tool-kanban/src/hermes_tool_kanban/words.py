"""Tasks, claims and what happened in words: a line each, or all about one."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import asdict

from hermes_tool_kanban.briefing import cut
from hermes_tool_kanban.values import Attachment, Comment, Happening, Run, Task
from hermes_tool_kit.telling import Happened

__all__ = ["about", "event_line", "flat", "happening", "line", "notice_of", "plain", "run_line", "stamp"]

_LOUD = {
    "completed": "The task {id} is done",
    "blocked": "The task {id} waits for you",
    "gave_up": "The task {id} was given up",
    "review": "The task {id} is to be reviewed",
}


def stamp(instant: float) -> str:
    """Say an instant, in the clock of this machine."""
    return time.strftime("%a %d %b %H:%M", time.localtime(instant)) if instant else ""


def flat(text: str, most: int = 160) -> str:
    """Return the beginning of a text as one line in which nothing moves a cursor, or hides."""
    return "".join(one if one.isprintable() else "�" for one in " ".join(text.split())[:most])


def line(task: Task) -> str:
    """A task in a line."""
    who = f" · {task.assignee}" if task.assignee else ""
    more = f" · {flat(task.error, 100)}" if task.error and task.status != "done" else ""
    return f"{task.id} · {task.status}{who} · {flat(task.title, 100)}{more}"


def run_line(run: Run) -> str:
    """A claim in a line."""
    said = flat(run.error or run.summary or run.note)
    state = run.outcome or ("works" if run.role == "work" else "reviews")
    return f"{stamp(run.created)} · {run.id} · {run.worker or 'anyone'} · {state} · {said}"


def event_line(event: Happening) -> str:
    """Something that happened in a line."""
    said = flat(event.text)
    return f"{stamp(event.at)} · {event.task} · {event.kind}{f' · {said}' if said else ''}"


def happening(event: Happening) -> Happened:
    """Return what other plugins may be told of something that people want to know: ``task.completed`` and so on."""
    return Happened(
        name=f"task.{event.kind}",
        about=str(event.id),
        when=event.at,
        title=_LOUD[event.kind].format(id=event.task),
        person=event.person,
        data={"task": event.task, "board": event.board},
        text=event.text,
    )


def plain(task: Task) -> Mapping[str, Any]:
    """A task as JSON has it."""
    values = asdict(task)
    return {name: value for name, value in values.items() if name not in ("person", "number")}


def about(
    task: Task, parents: Sequence[Task] = (), children: Sequence[Task] = (), runs: Sequence[Run] = (),
    remarks: Sequence[Comment] = (), files: Sequence[Attachment] = (), events: Sequence[Happening] = (),
) -> str:  # fmt: skip
    """All about a task."""
    options = task.options
    rows = [
        ("task", f"{task.id}, {task.status}{f': {task.error}' if task.error else ''}"),
        ("title", task.title),
        ("body", task.body),
        ("worker", task.assignee or "whoever is free"),
        ("reviewer", options.reviewer),
        ("tenant", options.tenant),
        ("priority", str(task.priority) if task.priority else ""),
        ("place", " ".join(filter(None, (options.workspace, options.folder, options.place and f"on {options.place}")))),
        ("model", " ".join(filter(None, (options.model, options.effort)))),
        ("skills", ", ".join(options.skills)),
        ("grants", ", ".join(options.grants)),
        ("again", options.again if options.again != "ask" else ""),
        ("tells", ", ".join(options.deliver)),
        ("due", stamp(task.due)),
        ("made", f"{stamp(task.created)} by {task.maker}{', from outside' if task.outside else ''}"),
        ("waits for", "; ".join(map(line, parents))),
        ("wait for it", "; ".join(map(line, children))),
        ("files", ", ".join(f"{one.id} {one.name}" for one in files)),
        ("result", task.result),
    ]
    text = "\n".join(f"{name:<11} {said}" for name, said in rows if said)
    for head, lines in (
        ("claims", [run_line(one) for one in runs]),
        ("remarks", [f"{stamp(one.created)} · {one.author}: {cut(one.text, 2000)}" for one in remarks]),
        ("what happened", [event_line(one) for one in events]),
    ):
        text += f"\n\n{head}\n" + "\n".join(f"  {one}" for one in lines) if lines else ""
    return text


def notice_of(task: Task, text: str, program: str) -> str:
    """Return what a target is told of a task."""
    kind, _, said = text.partition("\n")
    head = f"{_LOUD.get(kind, 'The task {id} changed').format(id=task.id)}: {task.title}"
    hint = {
        "blocked": f"`/kanban unblock {task.id} ANSWER` lets it go on.",
        "gave_up": f"`{program} kanban show {task.id}` says why; `/kanban unblock {task.id}` tries again.",
        "review": f"`/kanban approve {task.id}`, or `/kanban reject {task.id} WHY`." if _by_person(task) else "",
    }.get(kind, "")
    return "\n\n".join(filter(None, (f"**{head}**", cut(said, 20_000), hint)))


def _by_person(task: Task) -> bool:
    return task.options.reviewer == "person"
