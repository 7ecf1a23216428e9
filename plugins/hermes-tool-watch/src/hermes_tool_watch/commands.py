"""``hermes watch``: what starts a turn when it changes."""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hermes_core.context import PluginContext
from hermes_core.errors import OutOfReach, UnknownName, UserError
from hermes_core.types import Command
from hermes_tool_watch.config import Config
from hermes_tool_watch.values import Change, Watch
from hermes_tool_watch.watching import rows_of

if TYPE_CHECKING:
    import click

__all__ = ["commands"]

_UNITS = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}


def commands(ctx: PluginContext) -> Sequence[Command]:
    """All of them."""
    made = {"watch add": _add, "watch list": _list, "watch remove": _remove, "watch log": _log}
    return [Command(name=name, build=partial(build, ctx)) for name, build in made.items()]


async def _named(ctx: PluginContext, name: str) -> Watch:
    found = await rows_of(ctx).watch(name)
    if found is None:
        raise UnknownName("watch", name, [one.name for one in await rows_of(ctx).watched()])
    return found


def _add(ctx: PluginContext) -> "click.Command":
    import click

    @click.command("add")
    @click.argument("name")
    @click.option("--path", help="A file, or a folder with all below it.")
    @click.option("--page", help="The address of a page.")
    @click.option("--feed", help="The address of a feed, RSS or Atom.")
    @click.option("--command", "run", help="A command for sh; it runs behind the wall, in --folder.")
    @click.option("--prompt", help="What you want done when it changes.")
    @click.option("--glob", "globs", multiple=True, help="Only files of such names, as *.pdf. Repeatable.")
    @click.option("--every", help="How often it is looked at, as 90s, 5m, 2h; a path is seen at once, too.  [5m]")
    @click.option("--settle", help="How long a path is quiet before its change counts.  [2s]")
    @click.option("--per-day", type=click.IntRange(1, 1000), help="How many turns it starts in 24 hours.")
    @click.option("--deliver", help="Where the answer goes: a target, such as telegram.")
    @click.option("--tools", help="Offer only these tools or toolsets, with commas between; '' offers none.")
    @click.option("--folder", help="The folder that turns and the command work in.")
    @click.option("--model", help="Who answers: [provider:]model.")
    @click.option("--private/--public", default=None, help="Whether a page or feed may be in a private network.")
    async def command(name: str, prompt: str | None, every: str | None, settle: str | None, **given: Any) -> None:
        """Start a turn when something changes, or change what is done then.

        It is looked at by the gateway. The first look only remembers what there is. What changed is told as text from
        outside: it gives no orders, and after it nothing lasting is done without a person.

        \b
        Examples:
          hermes watch add inbox --path ~/inbox --glob "*.pdf" --prompt "Say what came." --deliver telegram
          hermes watch add news --feed https://example.org/feed.xml --every 1h --prompt "Is any of it for me?"
          hermes watch add disk --command "df -h /" --every 1h --prompt "Warn me if it gets full."
        """
        from attrs import evolve

        before = await rows_of(ctx).watch(name)
        kinds = {kind: given.pop(key) for kind, key in (("path", "path"), ("page", "page"), ("feed", "feed"))}
        kinds["command"] = given.pop("run")
        what = [(kind, value) for kind, value in kinds.items() if value]
        if len(what) > 1 or not (what or before):
            raise UserError("Say what is watched.", hint="One of --path, --page, --feed and --command.")
        changes: dict[str, Any] = {key: value for key, value in given.items() if value not in (None, ())}
        if "tools" in changes:
            changes["tools"] = [one.strip() for one in changes["tools"].split(",") if one.strip()]
        if what:
            kind, value = what[0]
            changes |= {"kind": kind, "what": str(Path(value).expanduser().absolute()) if kind == "path" else value}
        changes |= {"prompt": prompt} if prompt else {}
        changes |= {key: _seconds(text) for key, text in (("every", every), ("settle", settle)) if text}
        wanted = evolve(before or Watch(name=name, kind="path", what="", prompt=""), **changes)
        await _check(ctx, wanted)
        await rows_of(ctx).put(wanted)
        click.echo(f"{name} is watched by the gateway.", err=True)

    return command


def _seconds(text: str) -> float:
    found = re.fullmatch(r"(\d{1,6}(?:\.\d{1,3})?)([smhd]?)", text.strip())
    if not found:
        raise UserError(f"{text[:40]!r} is no time.", hint="Write it as 90s, 5m, 2h or 1d.")
    return float(found[1]) * _UNITS[found[2] or "s"]


async def _check(ctx: PluginContext, wanted: Watch) -> None:
    """Raise UserError for what could never be watched."""
    config: Config = ctx.config or Config()
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,63}", wanted.name):
        raise UserError(f"{wanted.name[:80]!r} is no name for it.", hint="Use a-z, 0-9, . _ and -, 64 at most.")
    if not wanted.prompt.strip():
        raise UserError("Say what is to be done when it changes.", hint="--prompt TEXT")
    if wanted.kind != "path" and wanted.every < config.least_seconds:
        raise UserError(
            f"It is looked at every {config.least_seconds:g} seconds at most.", hint="tools.watch.least_seconds"
        )
    if wanted.kind == "path":
        path, home = Path(wanted.what), ctx.paths.home.resolve()
        if not path.exists():
            raise UserError(f"There is no {wanted.what}.")
        if path.resolve().parts[:2] in (("/", "proc"), ("/", "sys"), ("/", "dev")):
            raise UserError(f"{wanted.what} is no folder of files.", hint="Have a command say it: --command.")
        if path.resolve() in (home, *home.parents) or home in path.resolve().parents:
            raise UserError(f"Hermes keeps its own things there: {wanted.what}", hint="Watch what lies elsewhere.")
    if wanted.kind in ("page", "feed"):
        from hermes_tool_kit.addresses import check_url

        try:
            check_url(wanted.what, ctx.urls._replace(allow_private=wanted.private or ctx.urls.allow_private))
        except OutOfReach as error:
            raise UserError(error.text, hint="--private, where it is meant to be in your own network.") from error
    if wanted.folder and not (Path(wanted.folder).is_absolute() and Path(wanted.folder).is_dir()):
        raise UserError(f"{wanted.folder} is no folder.", hint="Give its whole path.")
    if wanted.deliver:
        await ctx.messages.find(ctx.owner, wanted.deliver)


def _list(ctx: PluginContext) -> "click.Command":
    import click

    from hermes_tables.tables import emit, json_option

    @click.command("list")
    @json_option
    async def command(as_json: bool) -> None:
        """Print what is watched, and what is wrong with it."""

        def row(one: Watch) -> Mapping[str, object]:
            state = one.note or ("waits for its first look" if not one.seen else f"{one.number} changes")
            known = {"name": one.name, "kind": one.kind, "every": f"{one.every:g}s", "deliver": one.deliver}
            return {**known, "state": state, "what": ctx.masks.text(one.what)}

        rows = [row(one) for one in await rows_of(ctx).watched()]
        columns = ("name", "kind", "every", "deliver", "state", "what")
        emit(rows, columns, as_json=as_json, empty=f"Nothing yet. See: {ctx.program} watch add --help")

    return command


def _remove(ctx: PluginContext) -> "click.Command":
    import click

    @click.command("remove")
    @click.argument("name")
    async def command(name: str) -> None:
        """Watch something no longer. What changed and waits is not told."""
        await _named(ctx, name)
        await rows_of(ctx).remove(name)
        click.echo(f"{name} is watched no longer.", err=True)

    return command


def _log(ctx: PluginContext) -> "click.Command":
    import click

    from hermes_tables.tables import ago, emit, json_option

    @click.command("log")
    @click.argument("name", default="")
    @click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="How many.")
    @json_option
    async def command(name: str, limit: int, as_json: bool) -> None:
        """Print what changed, newest first, and which session it began."""

        def row(one: Change) -> Mapping[str, object]:
            when = one.created if as_json else ago(one.created)
            known = {"id": one.id, "watch": one.watch, "state": one.state, "when": when}
            return {**known, "session": one.session, "note": one.note}

        rows = [row(one) for one in await rows_of(ctx).log(name, limit)]
        emit(rows, ("id", "watch", "state", "when", "session", "note"), as_json=as_json, empty="Nothing changed.")

    return command
