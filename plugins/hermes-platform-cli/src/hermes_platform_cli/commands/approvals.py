"""``hermes approvals``: what waits for a yes, answered from another terminal."""

import getpass

import click

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import Approval, Outcome, Verdict
from hermes_tables.tables import ago, emit, json_option, visible

__all__ = ["make_allow", "make_approvals", "make_deny", "make_list", "make_show"]


def make_approvals(ctx: PluginContext) -> click.Command:
    """``approvals`` alone."""

    @click.command()
    @json_option
    async def command(as_json: bool) -> None:
        """Questions that wait for your yes, wherever they were asked. Without a command: list them."""
        await _list(ctx, closed=False, limit=20, as_json=as_json)

    return command


def make_list(ctx: PluginContext) -> click.Command:
    """``approvals list``."""

    @click.command()
    @click.option("--all", "closed", is_flag=True, help="Those that are settled too.")
    @click.option(
        "-n", "--limit", default=20, type=click.IntRange(min=1), show_default=True, help="How many, newest first."
    )
    @json_option
    async def command(closed: bool, limit: int, as_json: bool) -> None:
        """List open questions, newest first."""
        await _list(ctx, closed=closed, limit=limit, as_json=as_json)

    return command


async def _list(ctx: PluginContext, *, closed: bool, limit: int, as_json: bool) -> None:
    rows = [_row(one, as_json=as_json) for one in await ctx.approvals.list(ctx.owner, closed=closed, limit=limit)]
    emit(rows, ("id", "asked", "state", "session_id", "call"), as_json=as_json, empty="No question is open.")


def make_show(ctx: PluginContext) -> click.Command:
    """``approvals show``."""

    @click.command()
    @click.argument("which")
    @json_option
    async def command(which: str, as_json: bool) -> None:
        """Print a question in full: what would run, why it is asked, what a lasting yes would cover."""
        row = await ctx.approvals.find(ctx.owner, which)
        if as_json:
            emit([_row(row, as_json=True)], (), as_json=True, empty="")
            return
        lines = (
            ("Call", row.subject),
            ("Risk", row.risk),
            ("--session or --always would allow", row.covers),
            ("Session", row.session_id),
            ("Asked by", row.owner.person if row.addressee else ""),
            ("Asked", ago(row.asked)),
            ("State", "open" if row.state == "open" else f"{row.summary}. {row.reason}".strip()),
        )
        for name, text in lines:
            if text:
                click.echo(f"{name}: {visible(text)}")

    return command


def make_allow(ctx: PluginContext) -> click.Command:
    """``approvals allow``."""

    @click.command()
    @click.argument("which")
    @click.option("--session", "choice", flag_value="session", help="Also later, in the same conversation.")
    @click.option("--always", "choice", flag_value="always", help="Also later, in every conversation.")
    @click.option("--once", "choice", flag_value="once", default="once", help="This one call (the default).")
    @json_option
    async def command(which: str, choice: str, as_json: bool) -> None:
        """Say yes. What --session and --always cover is told by `show`."""
        await _answer(ctx, which, "allow", choice, as_json=as_json)

    return command


def make_deny(ctx: PluginContext) -> click.Command:
    """``approvals deny``."""

    @click.command()
    @click.argument("which")
    @click.argument("instead", nargs=-1)
    @json_option
    async def command(which: str, instead: tuple[str, ...], as_json: bool) -> None:
        """Say no; the model is told what you want INSTEAD, in your words.

        \b
        Examples:
          hermes approvals deny 3f9a
          hermes approvals deny 3f9a use pnpm, not npm
        """
        await _answer(ctx, which, "deny", "deny", as_json=as_json, instead=" ".join(instead))

    return command


async def _answer(
    ctx: PluginContext, which: str, outcome: Outcome, choice: str, *, as_json: bool, instead: str = ""
) -> None:
    """Settle a question, once. Raises UserError when it is settled, or the choice was not offered."""
    found = await ctx.approvals.find(ctx.owner, which)
    if found.state == "open" and choice not in (*found.choices, "deny"):
        raise UserError(f"This can be allowed {', '.join(found.choices[:-1])}; {choice} is not offered for it.")
    by = f"{getpass.getuser()} in another terminal"
    verdict = Verdict(outcome="allow", choice=choice, by=by) if outcome == "allow" else Verdict.refused(by, instead)
    row = await ctx.approvals.settle(ctx.owner, found.id, verdict)
    if as_json:
        emit([_row(row, as_json=True)], (), as_json=True, empty="")
    elif row.verdict != "allow":
        click.echo(f"Denied: {visible(row.subject)}")
    else:
        click.echo(f"Allowed ({row.choice}): {visible(row.subject)}")
        if row.choice != "once":
            how_long = "From now on allowed" if row.choice == "always" else "Allowed until this conversation ends"
            click.echo(f"{how_long}: {visible(row.covers)}")


def _row(row: Approval, *, as_json: bool) -> dict[str, object]:
    return {
        "id": row.id,
        "state": row.state,
        "session_id": row.session_id,
        "person": row.owner.person,
        "turn_id": row.turn_id,
        "call_id": row.call_id,
        "choices": list(row.choices),
        "covers": row.covers,
        "verdict": row.verdict,
        "choice": row.choice,
        "reason": row.reason,
        "by": row.answered_by,
        "answered": row.answered,
        "asked": row.asked if as_json else ago(row.asked),
        "risk": row.risk,
        "call": row.subject,
    }
