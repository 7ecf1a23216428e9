"""``hermes secrets``: names and where each comes from; and what doctor is told."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hermes_core.context import PluginContext
from hermes_core.types import Check, Command, Finding, SecretOrigin
from hermes_tool_secrets.config import Config
from hermes_tool_secrets.sources import missing

if TYPE_CHECKING:
    import click

__all__ = ["check_of", "commands"]

_ALL = "(all it has)"


def commands(ctx: PluginContext) -> Sequence[Command]:
    """Both of them."""
    return [
        Command(name="secrets list", build=lambda: _list(ctx)),
        Command(name="secrets check", build=lambda: _check(ctx)),
    ]


def _list(ctx: PluginContext) -> "click.Command":
    import click

    from hermes_tables.tables import emit, json_option

    @click.command("list")
    @json_option
    async def list_(as_json: bool) -> None:
        """List the names of your secrets and where each comes from. Nothing is asked for, and no value is shown.

        \b
        Read one from a password store from now on:
          hermes config set secrets.env.OPENAI_API_KEY pass:hermes/openai
        Ask Bitwarden for whatever it has:
          hermes config set secrets.bulk '[bws]'
        """
        rows = _rows(await ctx.settings.secret_origins())
        for row in rows:
            del row["problem"]
        empty = f"No secret yet. Keep one: {ctx.program} config set NAME; or see: {ctx.program} secrets list --help"
        emit(rows, ("name", "from", "also in"), as_json=as_json, empty=empty)

    return list_


def _check(ctx: PluginContext) -> "click.Command":
    import click

    from hermes_tables.tables import emit, json_option

    @click.command("check")
    @json_option
    async def check(as_json: bool) -> int:
        """Ask for every secret, and say which are not to be had and why; no value is shown. Exit 1 when one is not."""
        rows = _rows(await ctx.settings.secret_origins(ask=True))
        bad = [row for row in rows if row["problem"]]
        for row in rows:
            row["state"] = "not to be had" if row in bad else "ok"
        emit(rows, ("name", "from", "also in", "state"), as_json=as_json, empty="No secret is set.")
        for row in [] if as_json else bad:
            click.echo(f"{row['from'] if row['name'] == _ALL else row['name']}: {row['problem']}", err=True)
        return 1 if bad else 0

    return check


def _rows(origins: Sequence[SecretOrigin]) -> list[dict[str, object]]:
    """One row for each name: what counts in front, then who has it too."""
    found: dict[str, list[SecretOrigin]] = {}
    for one in sorted(origins, key=_rank):  # of equals the order stays: that of secrets.bulk
        found.setdefault(f"* {one.source}" if one.name == "*" else one.name, []).append(one)
    return [
        {
            "name": _ALL if name.startswith("* ") else name,
            "from": had[0].source,
            "also in": ", ".join(one.source for one in had[1:]),
            "problem": had[0].problem,  # what does not count may be wrong
        }
        for name, had in sorted(found.items(), key=lambda item: (item[0].startswith("* "), item[0]))
    ]


def _rank(one: SecretOrigin) -> int:
    return {"environment": 0, ".env": 2}.get(one.source, 1 if ":" in one.source else 3)


def check_of(ctx: PluginContext) -> Check:
    """Whether the programs of the stores in use are there; ``doctor --secret-stores`` asks for each secret."""

    async def programs() -> list[Finding]:
        config: Config = ctx.config or Config()
        used = {one.source.partition(":")[0] for one in await ctx.settings.secret_origins()}
        told = {name: fix for name in sorted(used) if (fix := missing(name, config))}
        wrong = [_warning(f"secrets come from {name}, whose program is missing", fix) for name, fix in told.items()]
        return wrong or [Finding(level="ok", text="the programs of the stores in use are there")]

    async def everything() -> list[Finding]:
        bad = [row for row in _rows(await ctx.settings.secret_origins(ask=True)) if row["problem"]]
        wrong = [_warning(f"{r['name']} from {r['from']}: {r['problem']}", "hermes secrets check") for r in bad]
        return wrong or await programs()

    return Check(name="secret-stores", run=programs, full=everything, cheap=True)


def _warning(text: str, fix: str) -> Finding:
    return Finding(level="warning", text=text, fix=fix)
