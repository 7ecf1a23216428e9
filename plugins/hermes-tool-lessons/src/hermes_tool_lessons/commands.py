"""``hermes learned``: what was learned, why, and how it is taken back, at a terminal."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from attrs import evolve

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import Command, Principal

if TYPE_CHECKING:
    import click

__all__ = ["commands"]

_PERSON = "Whose; yours, if nobody is named."


def commands(ctx: PluginContext) -> Sequence[Command]:
    """All of them; each is made when it is used."""
    made: dict[str, Callable[[PluginContext], click.Command]] = {
        "list": _list, "why": _why, "diff": _diff, "add": _add, "revert": _revert, "restore": _restore,
        "freeze": _freeze, "report": _report, "review": _review, "export": _export, "erase": _erase,
        "weeks": _weeks,
        **{verb: partial(_settle, verb=verb) for verb in ("approve", "reject")},
    }  # fmt: skip
    return [Command(name=f"learned {name}", build=partial(make, ctx)) for name, make in made.items()]


def _whose(ctx: PluginContext, person: str) -> Principal:
    return evolve(ctx.owner, person=person) if person else ctx.owner


def _list(ctx: PluginContext) -> "click.Command":
    import click

    from hermes_tables.tables import emit, json_option

    @click.command()
    @click.option("-a", "--all", "everything", is_flag=True, help="Also those that were let go of.")
    @click.option("--person", default="", help=_PERSON)
    @json_option
    async def command(everything: bool, person: str, as_json: bool) -> None:
        """Print what was learned, newest first: its state, and how often it went well when it was followed."""
        from attrs import asdict

        from hermes_tool_lessons.shared import is_on, is_used, rows_of

        there = await rows_of(ctx).list(_whose(ctx, person)) if is_used(ctx) else ()
        there = [one for one in there if everything or one.state != "retired"]
        if as_json:
            emit([asdict(one) for one in there], (), as_json=True, empty="")
            return
        rows = [
            {"id": one.id, "state": one.state, "won": f"{one.wins}/{one.uses}", "told": one.offered,
             "when": one.trigger or "always", "lesson": ctx.masks.text(one.text)}
            for one in there
        ]  # fmt: skip
        off = "" if is_on(ctx) else f" Learning is off: {ctx.program} config set learning.mode ask"
        emit(
            rows,
            ("id", "state", "won", "told", "when", "lesson"),
            as_json=False,
            empty=f"Nothing was learned yet.{off}",
        )

    return command


def _why(ctx: PluginContext) -> "click.Command":
    import click

    from hermes_tables.tables import json_option

    @click.command()
    @click.argument("lesson")
    @click.option("--person", default="", help=_PERSON)
    @json_option
    async def command(lesson: str, person: str, as_json: bool) -> None:
        """Print where LESSON came from, what became of it, and all that it ever was."""
        import json

        from attrs import asdict

        from hermes_tool_lessons.reporting import why
        from hermes_tool_lessons.shared import ledger_of, rows_of

        found = await rows_of(ctx).find(_whose(ctx, person), lesson)
        if as_json:
            taught, ends = await ledger_of(ctx).about(found)
            versions = await rows_of(ctx).versions(found.id)
            told = asdict(found)
            told["taught"], told["outcomes"] = [asdict(one) for one in taught], [asdict(one) for one in ends]
            told["versions"] = [asdict(one) for one in versions]
            click.echo(json.dumps(told, ensure_ascii=False))
        else:
            click.echo(await why(ctx, found))

    return command


def _diff(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    @click.argument("lesson")
    @click.argument("first", type=int, default=0)
    @click.argument("last", type=int, default=0)
    @click.option("--person", default="", help=_PERSON)
    async def command(lesson: str, first: int, last: int, person: str) -> None:
        """Print what changed in LESSON from version FIRST to LAST; by default from the one before to the newest."""
        from hermes_tool_lessons.reporting import difference
        from hermes_tool_lessons.shared import rows_of

        found = await rows_of(ctx).find(_whose(ctx, person), lesson)
        click.echo(ctx.masks.text(difference(await rows_of(ctx).versions(found.id), first, last)))

    return command


def _add(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    @click.argument("text")
    @click.option("--when", "trigger", default="", help="Words of a message that calls for it; without: always.")
    @click.option("--project", is_flag=True, help="Only in this folder and below it.")
    @click.option("--chat", default="", metavar="PLATFORM:CHAT", help="Only in this chat.")
    @click.option("--everybody", is_flag=True, help="For everybody who uses this Hermes.")
    async def command(text: str, trigger: str, project: bool, chat: str, everybody: bool) -> None:
        """Write a lesson yourself: TEXT is one line, what to do.

        \b
        hermes learned add 'Use `--iso` for dates.' --when 'stratus deploy'
        """
        from pathlib import Path

        from hermes_tool_lessons.doing import written
        from hermes_tool_lessons.reporting import listed

        if sum((project, bool(chat), everybody)) > 1:
            raise UserError("A lesson holds in one place: say --project, --chat or --everybody.")
        scope = "project" if project else "chat" if chat else "everybody" if everybody else "person"
        place = str(Path.cwd()) if project else chat
        click.echo(listed([await written(ctx, ctx.owner, text, trigger=trigger, scope=scope, place=place)]))  # type: ignore[arg-type]

    return command


def _settle(ctx: PluginContext, verb: str) -> "click.Command":
    import click

    docs = {
        "approve": "Let LESSON in: it is told from now on where it is called for.",
        "reject": "Let go of LESSON. It is kept, and never told; `learned revert` takes that back.",
    }

    @click.command(help=docs[verb])
    @click.argument("lesson", nargs=-1, required=True)
    @click.option("--person", default="", help=_PERSON)
    async def command(lesson: Sequence[str], person: str) -> None:
        from hermes_tool_lessons.reporting import listed
        from hermes_tool_lessons.shared import rows_of

        state, why = ("active", "a person let it in") if verb == "approve" else ("retired", "a person let go of it")
        for name in lesson:
            click.echo(listed([await rows_of(ctx).settle(_whose(ctx, person), name, state, why)]))  # type: ignore[arg-type]

    return command


def _revert(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    @click.argument("lesson")
    @click.argument("version", type=click.IntRange(0), default=0)
    @click.option("--person", default="", help=_PERSON)
    async def command(lesson: str, version: int, person: str) -> None:
        """Make LESSON what it was at VERSION, to the byte; by default what it was before its last change."""
        from hermes_tool_lessons.reporting import listed
        from hermes_tool_lessons.shared import rows_of

        click.echo(listed([await rows_of(ctx).revert(_whose(ctx, person), lesson, version)]))

    return command


def _restore(ctx: PluginContext) -> "click.Command":
    import click

    from hermes_tables.tables import confirm

    @click.command()
    @click.argument("change", type=click.IntRange(0))
    @click.option("--person", default="", help=_PERSON)
    @click.option("--yes", is_flag=True, help="Do not ask.")
    async def command(change: int, person: str, yes: bool) -> None:
        """Make all lessons what they were at CHANGE, a number of `learned why --json`; later ones are let go of."""
        from hermes_tool_lessons.shared import rows_of

        confirm(f"Make all lessons what they were at change {change}?", yes=yes)
        many = await rows_of(ctx).restore(_whose(ctx, person), change)
        click.echo(f"{many} lessons changed. The last change was {await rows_of(ctx).rev()}.")

    return command


def _freeze(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    @click.argument("lesson", default="")
    @click.option("--off", is_flag=True, help="Let it change again.")
    @click.option("--person", default="", help=_PERSON)
    async def command(lesson: str, off: bool, person: str) -> None:
        """Keep LESSON as it is, whatever comes of it; without one, all of them, and learn nothing new."""
        from hermes_tool_lessons.reporting import listed
        from hermes_tool_lessons.shared import rows_of

        owner = _whose(ctx, person)
        if lesson:
            click.echo(listed([await rows_of(ctx).pin(owner, lesson, pinned=not off)]))
            return
        await rows_of(ctx).freeze(owner, on=not off)
        click.echo("Lessons change again by what comes of them." if off else "Frozen: nothing changes by itself.")

    return command


def _report(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    @click.option("--days", type=click.IntRange(1, 90), default=7, show_default=True, help="How far to look back.")
    @click.option("--svg", "drawn", is_flag=True, help="The plots only, as an SVG for a browser.")
    @click.option("--person", default="", help=_PERSON)
    async def command(days: int, drawn: bool, person: str) -> None:
        """Print what was learned, where it helped and what it cost, with small plots by day.

        \b
        hermes learned report --days 30 --svg > learned.svg
        """
        from hermes_tool_kit.plots import svg
        from hermes_tool_lessons.reporting import days_of, report

        owner = _whose(ctx, person)
        title = f"What was learned in {days} days: uses of lessons, those that went well, US $ of turns"
        click.echo(svg(title, await days_of(ctx, owner, days)) if drawn else await report(ctx, owner, days))

    return command


def _review(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    @click.argument("session", default="latest")
    async def command(session: str) -> int:
        """Review SESSION now, and print what it taught. A model is called."""
        import asyncio

        from hermes_tool_lessons.doing import review
        from hermes_tool_lessons.reporting import listed
        from hermes_tool_lessons.shared import queue_of, reviewer_of, rows_of

        name = await review(ctx, ctx.owner, await ctx.sessions.find(ctx.owner, session))
        while (now := await queue_of(ctx).get(name)) and now.state == "due":
            await reviewer_of(ctx).look()
            if (now := await queue_of(ctx).get(name)) and now.state == "due":
                await asyncio.sleep(0.5)
        if now is None or now.state == "failed":
            click.echo(f"Nothing was learned: {now.why if now else 'the conversation is gone'}.", err=True)
            return 1
        fresh = [
            one
            for one in await rows_of(ctx).list(ctx.owner)
            if one.session == now.session and one.created >= now.created
        ]
        click.echo(listed(fresh) if now.found else "There was nothing to learn.")
        return 0

    return command


def _weeks(ctx: PluginContext) -> "click.Command":
    import click

    from hermes_tables.tables import emit, json_option

    @click.command()
    @click.option("--make", "wanted", is_flag=True, help="Make those that are missing now. A model is called.")
    @click.option("--forget", "label", default="", metavar="WEEK", help="Delete that of a week; it is not made again.")
    @json_option
    async def command(wanted: bool, label: str, as_json: bool) -> int:
        """Print the summaries of past weeks, each item with the conversations that it comes from.

        \b
        hermes learned weeks --make
        hermes learned weeks --forget 2026-W47
        """
        from attrs import asdict

        from hermes_tables.tables import harmless
        from hermes_tool_lessons.reviewing import Reviewer
        from hermes_tool_lessons.shared import is_used, queue_of
        from hermes_tool_lessons.weeks import forget, plan, weeks

        used = is_used(ctx)
        if label:
            await forget(ctx, ctx.owner, label)
            click.echo(f"The summary of {label} is deleted.", err=True)
            return 0
        failed: list[str] = []
        if wanted and used:
            for name in await plan(ctx, ctx.owner, asked=True):
                await Reviewer(ctx).made(name)
                now = await queue_of(ctx).get(name)
                if now and now.state != "done":
                    failed.append(f"{name.rpartition(':')[2]}: {now.why or 'it is tried again later; see the log'}")
        there = await weeks(ctx, ctx.owner) if used else ()
        if as_json:
            emit([asdict(one) for one in there], (), as_json=True, empty="")
        for week in () if as_json else there:
            lines = [f"Week {week.label}  [{week.session}]", *(f"  - {one}" for one in week.items)]
            click.echo(harmless("\n".join(lines)))
        if not there:
            click.echo("There is no summary of a week. hermes learned weeks --make makes them.", err=True)
        for one in failed:
            click.echo(f"Not made: {one}", err=True)
        return 1 if failed else 0

    return command


def _export(ctx: PluginContext) -> "click.Command":
    import click

    @click.command()
    @click.option("--person", default="", help=_PERSON)
    async def command(person: str) -> None:
        """Print all that is kept of you, or of another person, as lines of JSON: lessons, versions, what happened."""
        import json

        from hermes_tool_lessons.shared import is_used, rows_of

        for row in await rows_of(ctx).export(_whose(ctx, person)) if is_used(ctx) else ():
            click.echo(json.dumps(row, ensure_ascii=False))

    return command


def _erase(ctx: PluginContext) -> "click.Command":
    import click

    from hermes_tables.tables import confirm

    @click.command()
    @click.option("--person", default="", help=_PERSON)
    @click.option("--yes", is_flag=True, help="Do not ask.")
    async def command(person: str, yes: bool) -> None:
        """Delete all that was learned of you, or of another person, with every version and what happened."""
        from hermes_tool_lessons.shared import is_used, rows_of
        from hermes_tool_lessons.weeks import forget

        confirm(f"Delete all that was learned of {person or 'you'}? It cannot be undone.", yes=yes)
        if is_used(ctx):
            await forget(ctx, _whose(ctx, person), "")
        many = await rows_of(ctx).erase(_whose(ctx, person)) if is_used(ctx) else 0
        click.echo(f"{many} lessons of {person or 'you'} are deleted.", err=True)

    return command
