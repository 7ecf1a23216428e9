"""Boards and tasks are made and changed."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_tool_kanban.values import AGAIN, Options, Task

if TYPE_CHECKING:
    import click

    from hermes_tool_kanban.actions import Door

__all__ = ["door_of", "make_boards", "make_create", "make_decompose", "make_edit", "make_swarm", "say"]

F = TypeVar("F", bound=Callable[..., Any])


def door_of(ctx: PluginContext) -> "Door":
    """Return what the person at this terminal does with tasks."""
    from hermes_tool_kanban.actions import Door
    from hermes_tool_kit.used import mark_used

    mark_used(ctx)
    return Door(ctx, ctx.owner, written=True)


async def say(door: "Door", task: Task, *, as_json: bool = False) -> None:
    """Print a task, and why nobody takes it up where that is so."""
    import click

    from hermes_tool_kanban import actions
    from hermes_tool_kanban.words import line, plain

    if as_json:
        import json

        click.echo(json.dumps(plain(task), ensure_ascii=False))
        return
    click.echo(line(task))
    if hint := await actions.running(door, task):
        click.echo(hint, err=True)


def _options(function: F) -> F:
    """Add the options that a task has, each without a default: what is not said stays as it is."""
    import click

    for made in reversed(
        (
            click.option("-b", "--body", help="What is to be done, whole; - reads it from standard input."),
            click.option("-a", "--assignee", help="Who does it: a worker of kanban.workers, a profile."),
            click.option("--reviewer", help="Who says yes before it is done: a worker, or person."),
            click.option("--tenant", help="For whom it is done, where a board serves several: workers see no other's."),
            click.option("-p", "--priority", type=int, help="The higher the sooner, from -100 to 100."),
            click.option("--folder", metavar="FOLDER", help="Work in this folder."),
            click.option("--worktree", metavar="FOLDER", help="Work in a tree of its own of the repository there."),
            click.option("--skill", "skills", multiple=True, help="A skill that the worker loads first."),
            click.option("--model", help="[PROVIDER:]MODEL that answers."),
            click.option("--effort", help="How much it thinks: none, low, medium, high."),
            click.option("--seconds", type=int, help="How long one attempt may take."),
            click.option("--calls", type=int, help="Model calls of one attempt at most."),
            click.option("--retries", type=int, help="Attempts in a row that may fail."),
            click.option("--again", type=click.Choice(AGAIN),
                         help="When an attempt breaks off: ask you where its process died and it acted, ask you "
                              "once and for all, or try always."),
            click.option("--grant", "grants", multiple=True, metavar="RULE",
                         help="What it may do unasked, as `terminal(git push*)`."),
            click.option("-d", "--deliver", multiple=True, metavar="TARGET",
                         help="Who is told how it ends, and asked: telegram, telegram:CHAT, local."),
        )
    ):  # fmt: skip
        function = made(function)
    return function


def _said(given: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were said, with the workspace that they mean."""
    import sys
    from pathlib import Path

    found = {name: value for name, value in given.items() if value is not None and value != ()}
    for word in ("folder", "worktree"):
        if word in found:
            place = str(Path(found.pop(word)).expanduser().resolve())
            found |= {"workspace": word, "folder": place}
    if found.get("body") == "-":
        found["body"] = sys.stdin.read()
    return found


def make_boards(ctx: PluginContext) -> "click.Command":
    """``kanban boards``."""
    import click

    from hermes_tables.tables import confirm, emit, json_option

    @click.command()
    @click.argument("verb", type=click.Choice(("list", "create", "switch", "rename", "folder", "rm")), default="list")
    @click.argument("slug", default="")
    @click.argument("value", default="")
    @click.option("--folder", default="", help="Where tasks of a new board work that say --worktree or --folder.")
    @click.option("--switch", is_flag=True, help="Make a new one the usual board.")
    @click.option("-y", "--yes", is_flag=True, help="Do not ask.")
    @json_option
    async def command(verb: str, slug: str, value: str, folder: str, switch: bool, yes: bool, as_json: bool) -> None:
        """List boards, or create, switch, rename, rm SLUG; or give one another folder.

        The usual board is the one that commands mean which name none.
        """
        from pathlib import Path

        from attrs import asdict

        from hermes_tool_kanban.actions import make_board

        door = door_of(ctx)
        if verb == "create":
            where = str(Path(folder).expanduser().resolve()) if folder else ""
            await make_board(door, slug, folder=where, switch=switch)
        elif verb != "list":
            board = await door.board(slug)
            if verb == "switch":
                await door.rows.boards.switch(board)
            elif verb == "rename":
                await door.rows.boards.change(board, name=value)
            elif verb == "folder":
                await door.rows.boards.change(board, folder=str(Path(value).expanduser().resolve()))
            else:
                confirm(f"Put the board {board.slug} away, with its tasks?", yes=yes)
                await door.rows.boards.change(board, archived=True)
        else:
            await door.board()
        there = await door.rows.boards.list(door.owner.person)
        rows = [{**asdict(one), "usual": "*" if one.current else ""} for one in there]
        if as_json:
            rows = [{name: value for name, value in row.items() if name != "person"} for row in rows]
        emit(rows, ("usual", "slug", "name", "folder"), as_json=as_json, empty="There is no board.")

    return command


def make_create(ctx: PluginContext) -> "click.Command":
    """``kanban create``."""
    import click

    from hermes_tables.tables import json_option

    @click.command()
    @click.argument("title")
    @_options
    @click.option("--board", default="", help="The board; else the usual one.")
    @click.option("--parent", "parents", multiple=True, metavar="ID", help="A task that must be done before.")
    @click.option("--triage", is_flag=True, help="Nobody takes it up before it is promoted or split up.")
    @click.option("--key", default="", help="The same key makes it only once.")
    @json_option
    async def command(
        title: str, board: str, parents: tuple[str, ...], triage: bool, key: str, as_json: bool, **given: Any
    ) -> None:
        """Put a task on a board: an agent does it by itself, as soon as all its parents are done.

        It works in an empty folder of its own, unless --folder or --worktree says where. What it commits to a worktree
        comes to the repository as the branch kanban/ID, for you to merge or delete. Nobody answers while it works: what
        it needs a yes for is put to the chat of --deliver, and is refused without one.
        """
        from hermes_tool_kanban import actions

        door, said = door_of(ctx), _said(given)
        own = {name: said.pop(name) for name in ("body", "assignee", "priority") if name in said}
        task, _ = await actions.create(
            door, title, board=board, parents=parents, status="triage" if triage else "todo", mark=key,
            options=Options(**said), **own,
        )  # fmt: skip
        await say(door, task, as_json=as_json)

    return command


def make_edit(ctx: PluginContext) -> "click.Command":
    """``kanban edit``."""
    import click

    from hermes_tables.tables import json_option

    @click.command()
    @click.argument("task_id", metavar="ID")
    @click.option("-t", "--title", help="Its new title.")
    @_options
    @click.option("--clear", multiple=True, metavar="OPTION", help="Take an option back: skills, grants, reviewer, …")
    @json_option
    async def command(task_id: str, title: str | None, clear: tuple[str, ...], as_json: bool, **given: Any) -> None:
        """Change the task ID. What is not said stays as it is. Who works on it now is told with the next attempt."""
        from attrs import asdict

        from hermes_tool_kanban import actions

        door, said = door_of(ctx), _said(given)
        task, plain = await door.task(task_id), asdict(Options(), recurse=False)
        own: dict[str, Any] = {name: said.pop(name) for name in ("body", "priority") if name in said}
        if title is not None:
            own["title"] = " ".join(title.split())
        assignee = said.pop("assignee", task.assignee)
        if wrong := [one for one in clear if one not in plain]:
            raise UserError(f"There is no option {wrong[0]!r}.", hint=f"There is: {', '.join(plain)}.")
        options = evolve(task.options, **said, **{name: plain[name] for name in clear})
        if "body" in own and "title" in own:
            own["outside"] = False  # all of its words are this person's now
        if options != task.options:
            kept = await actions.sound(door, options, assignee)
            own["options"] = kept if options.deliver else evolve(kept, deliver=())
        if not own and assignee == task.assignee:
            raise UserError("Nothing is said that would change.", hint=f"{ctx.program} kanban edit --help")
        if own:
            task = await door.rows.moves.edit(task, **own)
        if assignee != task.assignee:
            task = await door.rows.moves.assign(task, assignee)
        await say(door, task, as_json=as_json)

    return command


def make_decompose(ctx: PluginContext) -> "click.Command":
    """``kanban decompose``."""
    import click

    from hermes_tables.tables import confirm

    @click.command()
    @click.argument("task_id", metavar="ID")
    @click.option("-y", "--yes", is_flag=True, help="Make what the model says without asking.")
    async def command(task_id: str, yes: bool) -> None:
        """Have a model split up the task ID. You see the tasks, and say yes, before they are made.

        The task then waits for all of them, and is done last, with what they came to.
        """
        from hermes_tables.tables import visible
        from hermes_tool_kanban.decompose import make, propose
        from hermes_tool_kanban.words import line

        door = door_of(ctx)
        task = await door.task(task_id)
        parts = await propose(ctx, task)
        for number, one in enumerate(parts):
            after = f", after {', '.join(map(str, one.after))}" if one.after else ""
            click.echo(visible(f"{number}. {one.title} ({one.assignee or 'anyone'}{after})"))
            if one.body:
                click.echo(visible("\n".join(f"   {row}" for row in one.body.splitlines())))
        confirm("Make these tasks?", yes=yes)
        for made in await make(door, task, parts, approved=not yes):
            click.echo(line(made))

    return command


def make_swarm(ctx: PluginContext) -> "click.Command":
    """``kanban swarm``."""
    import click

    @click.command()
    @click.argument("goal")
    @click.option("-w", "--worker", "names", multiple=True, required=True, help="Who tries; say it several times.")
    @click.option("--verifier", default="", help="Who checks what they came to.")
    @click.option("--synthesizer", default="", help="Who makes one result of it.")
    @click.option("--board", default="", help="The board; else the usual one.")
    async def command(goal: str, names: tuple[str, ...], verifier: str, synthesizer: str, board: str) -> None:
        """Have several workers do GOAL side by side, one check all of it, and one make one result of what holds."""
        from hermes_tool_kanban.words import line

        door = door_of(ctx)
        for made in await swarm(door, goal, names, verifier, synthesizer, board):
            click.echo(line(made))

    return command


async def swarm(
    door: "Door", goal: str, names: Sequence[str], verifier: str, synthesizer: str, board: str = ""
) -> Sequence[Task]:
    """Make the tasks of a swarm: those who try, who checks after them, who sums up after that. Raises UserError."""
    from hermes_tool_kanban.actions import workers
    from hermes_tool_kanban.playing import config_of

    there = workers(door.ctx)
    if unknown := [one for one in (*names, verifier, synthesizer) if one and one not in there]:
        raise UserError(f"Nobody is called {unknown[0]}.", hint=f"There is: {', '.join(there)}.")
    where = await door.board(board)
    options = Options(deliver=())
    base = Task(id="", board=where.id, person=door.owner.person, title="", maker=door.author, options=options)
    short = " ".join(goal.split())[:150]
    made = [evolve(base, title=f"{short} ({number})", body=goal, assignee=name)
            for number, name in enumerate(names, 1)]  # fmt: skip
    check = "Check each result of the tasks before this one against the goal below. Say which hold, and why.\n\n"
    unite = "Make one result of what holds, as the check before this task says. The goal was:\n\n"
    made.append(evolve(base, title=f"Check: {short}", body=check + goal, assignee=verifier))
    made.append(evolve(base, title=f"Result: {short}", body=unite + goal, assignee=synthesizer))
    tries = list(range(len(names)))
    below: list[list[int]] = [[] for _ in names]
    return await door.rows.tasks.add_all(made, [*below, tries, [*tries, len(names)]], None, config_of(door.ctx).tasks)
