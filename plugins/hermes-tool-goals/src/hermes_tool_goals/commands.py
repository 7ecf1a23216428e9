"""``hermes goal``: what a person does with goals at a terminal."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_core.types import Command

if TYPE_CHECKING:
    import click

    from hermes_tool_goals.actions import Door
    from hermes_tool_goals.values import Goal

__all__ = ["commands"]


def commands(ctx: PluginContext) -> Sequence[Command]:
    """All of them; each is made when it is used."""
    made: dict[str, Callable[[PluginContext], click.Command]] = {
        "list": _list,
        "show": _show,
        "set": _set,
        "edit": _edit,
        "run": _run,
        "resume": _resume,
        **{verb: partial(_simple, verb=verb) for verb in ("pause", "clear", "done")},
    }
    return [Command(name=f"goal {name}", build=partial(make, ctx)) for name, make in made.items()]


def _amount(_context: "click.Context", _option: "click.Parameter", value: float | None) -> float | None:
    """Return an amount of money. Raises BadParameter for what is within all bounds and no number: ``nan``."""
    if value is not None and value != value:
        import click

        raise click.BadParameter("that is no amount.")
    return value


async def _door(ctx: PluginContext, goal: "Goal") -> "Door":
    """Return what the person at this terminal does with a goal: they may with everybody's."""
    from hermes_core.types import Principal, Session
    from hermes_tool_goals.actions import Door

    owner = Principal(profile=goal.profile, person=goal.person)
    try:
        session = await ctx.sessions.get(owner, goal.session)
    except UnknownName:  # nothing was said in it yet
        session = Session(id=goal.session, origin="cli", owner=owner, cwd=goal.folder)
    return Door(ctx, session, "command")


def _list(ctx: PluginContext) -> "click.Command":
    import click

    from hermes_tables.tables import emit, json_option

    @click.command()
    @click.option("-a", "--all", "everything", is_flag=True, help="Also those that are over.")
    @json_option
    async def command(everything: bool, as_json: bool) -> None:
        """Print the goals and loops there are, newest first, and how far each is."""
        from attrs import asdict

        from hermes_tool_goals.shared import goals_of, is_used
        from hermes_tool_goals.values import LIVE

        there = await goals_of(ctx).list() if is_used(ctx) else ()
        there = [one for one in there if everything or one.state in LIVE]
        if as_json:
            emit([asdict(one) for one in there], (), as_json=True, empty="")
            return
        rows = [
            {"id": one.id, "state": one.state, "turns": f"{one.used_turns}/{one.turns}", "session": one.session[:8],
             "goal": one.text, "why": one.why}
            for one in there
        ]  # fmt: skip
        empty = f"There is no goal. Say /goal TEXT in a conversation, or {ctx.program} goal set SESSION TEXT."
        emit(rows, ("id", "state", "turns", "session", "goal", "why"), as_json=False, empty=empty)

    return command


def _show(ctx: PluginContext) -> "click.Command":
    import click

    from hermes_tables.tables import harmless, json_option

    @click.command()
    @click.argument("name", default="")
    @json_option
    async def command(name: str, as_json: bool) -> None:
        """Print all about a goal, with the evidence of every round: which check ran, when, and what it said.

        NAME is its id, or that of its session; without one it is the newest.
        """
        import json

        from attrs import asdict

        from hermes_tool_goals.actions import named
        from hermes_tool_goals.shared import goals_of
        from hermes_tool_goals.words import about

        goal = await named(ctx, name)
        rounds = await goals_of(ctx).rounds(goal.id)
        if as_json:
            told = {**asdict(goal), "rounds": [asdict(one) for one in rounds]}
            click.echo(json.dumps(told, ensure_ascii=False))
        else:
            click.echo(harmless(ctx.masks.text(about(goal, rounds))))

    return command


def _set(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    @click.argument("session")
    @click.argument("text")
    @click.option("-c", "--check", "checks", multiple=True, metavar="COMMAND", help="It must end with 0.")
    @click.option("-f", "--file", "files", multiple=True, metavar="PATH", help="It must be there.")
    @click.option("-q", "--ask", "asks", multiple=True, metavar="QUESTION", help="What a judge must answer with yes.")
    @click.option("--turns", type=click.IntRange(1, 1000), help="Turns until it is paused.")
    @click.option("--money", type=click.FloatRange(0, 100_000), callback=_amount, help="US dollars until it is paused.")
    @click.option("--time", "span", metavar="TIME", help="Work until it is paused, as 90s or 1h30m.")
    async def command(
        session: str, text: str, checks: Sequence[str], files: Sequence[str], asks: Sequence[str],
        turns: int | None, money: float | None, span: str | None,
    ) -> None:  # fmt: skip
        """Set the goal TEXT of a SESSION: its id, the beginning of it, its title, or latest.

        It is pursued where the session is open, by a gateway, or by `goal run`.
        """
        from hermes_tool_goals.actions import Door, set_goal
        from hermes_tool_goals.grammar import Wanted, period
        from hermes_tool_goals.values import Check
        from hermes_tool_goals.words import line

        seconds = period(span) if span else None
        if span and not seconds:
            raise UserError(f"{span!r} is no time.", hint="Write 90s, 10m or 1h30m.")
        wanted = Wanted(
            text=text.strip(),
            checks=(
                *(Check(kind="command", what=one) for one in checks),
                *(Check(kind="file", what=one) for one in files),
                *(Check(kind="ask", what=one) for one in asks),
            ),
            turns=turns,
            money=money,
            seconds=seconds,
        )
        found = await ctx.sessions.find(ctx.owner, session)
        click.echo(line(await set_goal(Door(ctx, found, "command"), wanted)))

    return command


def _edit(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    @click.argument("name")
    @click.argument("words")
    async def command(name: str, words: str) -> None:
        """Change the goal NAME: WORDS as behind /goal, of which what is not said stays.

        \b
        hermes goal edit 3f2a 'Make all tests pass | check: pytest -q | turns: 30'
        """
        from hermes_tool_goals import actions
        from hermes_tool_goals.grammar import parse
        from hermes_tool_goals.words import line

        goal = await actions.named(ctx, name)
        click.echo(line(await actions.edit(await _door(ctx, goal), goal, parse(words))))

    return command


def _resume(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    @click.argument("name", default="")
    @click.option("--turns", type=click.IntRange(1, 1000), help="Turns until it is paused again.")
    @click.option(
        "--money", type=click.FloatRange(0, 100_000), callback=_amount, help="US dollars until it is paused again."
    )
    async def command(name: str, turns: int | None, money: float | None) -> None:
        """Let the goal NAME go on, with as much to use as it was given at first."""
        from hermes_tool_goals import actions
        from hermes_tool_goals.grammar import Wanted
        from hermes_tool_goals.words import line

        goal = await actions.named(ctx, name)
        wanted = Wanted(turns=turns, money=money)
        click.echo(line(await actions.resume(await _door(ctx, goal), goal, wanted)))

    return command


def _simple(ctx: PluginContext, verb: str) -> "click.Command":
    import click

    docs = {
        "pause": "Let the goal NAME rest until it is resumed. A turn that runs goes on.",
        "clear": "Take the goal NAME off its session. What was found can still be shown.",
        "done": "Call the goal NAME done, whatever its checks say.",
    }

    @click.command(help=docs[verb])
    @click.argument("name", default="")
    async def command(name: str) -> None:
        from hermes_tool_goals import actions
        from hermes_tool_goals.words import line

        moves: dict[str, Callable[..., Awaitable[Goal]]] = {
            "pause": actions.pause, "clear": actions.clear, "done": actions.end,
        }  # fmt: skip
        goal = await actions.named(ctx, name)
        click.echo(line(await moves[verb](await _door(ctx, goal), goal)))

    return command


def _run(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    @click.argument("name", default="")
    async def command(name: str) -> int:
        """Pursue the goal NAME here until it is done or needs you, and print what its turns say.

        Nobody is asked anything meanwhile: what needs a yes is refused. The exit status is 0 if it is done.
        """
        from hermes_tool_goals.actions import named
        from hermes_tool_goals.running import played

        goal = await played(ctx, await named(ctx, name), click.echo)
        return 0 if goal is not None and goal.state == "done" else 1

    return command
