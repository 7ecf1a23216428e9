"""``hermes insights``: what was used, and what it cost; by oneself, by somebody else, by everybody."""

from collections.abc import Mapping, Sequence

import click

from hermes_core.context import PluginContext
from hermes_core.errors import UnknownName, UserError
from hermes_core.types import Principal, UsageRow
from hermes_tables.tables import emit, json_option, visible

__all__ = ["make_insights"]

_FIGURES = ("turns", "calls", "input", "output", "cache_hits", "cost")


def make_insights(ctx: PluginContext) -> click.Command:
    """``insights``."""

    @click.command()
    @click.option("--days", default=30, type=click.IntRange(min=1), show_default=True, help="How many days back.")
    @click.option("--daily", is_flag=True, help="One row for each day.")
    @click.option("--person", default="", metavar="NAME", help="Of somebody else, as `hermes people` names them.")
    @click.option("--people", is_flag=True, help="One row for each person, who spent most first.")
    @json_option
    async def insights(days: int, daily: bool, person: str, people: bool, as_json: bool) -> None:
        """Calls, tokens, cache hits and cost by provider, model and task. ~ marks an estimate from list prices.

        It is what you used; with --person somebody else, with --people everybody. What they said is not told.
        """
        if people and (person or daily):
            raise UserError("--people is a table of everybody, and goes with neither --person nor --daily.")
        if people:
            await _everybody(ctx, days, as_json=as_json)
            return
        found = await ctx.sessions.usage(await _whose(ctx, person), days=days)
        groups: dict[tuple[str, ...], list[UsageRow]] = {}
        for row in found:
            groups.setdefault((row.day if daily else "", row.provider, row.model, row.task), []).append(row)
        known = ("day", "provider", "model", "task")
        rows = [_spent(dict(zip(known, key, strict=True)), group, as_json=as_json) for key, group in groups.items()]
        columns = (*known, *_FIGURES)
        emit(rows, columns if daily else columns[1:], as_json=as_json, empty="Nothing was used yet.")

    return insights


async def _whose(ctx: PluginContext, person: str) -> Principal:
    """Who is meant: somebody of whom something is stored. Raises UnknownName."""
    if not person:
        return ctx.owner
    people = [one for one in await ctx.sessions.people() if one.profile == ctx.owner.profile]
    if found := next((one for one in people if one.person == person), None):
        return found
    hint = f"See: {ctx.program} insights --people"
    raise UnknownName("person", person, [one.person for one in people], hint=hint)


async def _everybody(ctx: PluginContext, days: int, *, as_json: bool) -> None:
    """Say what each person used, and all of them together."""
    used = {
        one.person: await ctx.sessions.usage(one, days=days)
        for one in await ctx.sessions.people()
        if one.profile == ctx.owner.profile
    }
    spent = sorted((group for group in used.items() if group[1]), key=lambda group: _weight(group[1]), reverse=True)
    rows = [_spent({"person": name if as_json else visible(name)}, group, as_json=as_json) for name, group in spent]
    if len(spent) > 1 and not as_json:
        rows.append(_spent({"person": "(all)"}, [row for _, group in spent for row in group], as_json=False))
    emit(rows, ("person", *_FIGURES), as_json=as_json, empty="Nothing was used yet.")


def _weight(group: Sequence[UsageRow]) -> tuple[float, int]:
    return sum(row.usage.cost for row in group), sum(row.usage.calls for row in group)


def _spent(known: Mapping[str, str], group: Sequence[UsageRow], *, as_json: bool) -> dict[str, object]:
    calls, cost = sum(row.usage.calls for row in group), sum(row.usage.cost for row in group)
    given, cached = sum(row.usage.input for row in group), sum(row.usage.cache_read for row in group)
    estimated, unpriced = sum(row.estimated for row in group), sum(row.unpriced for row in group)
    figures = {
        "turns": sum(row.turns for row in group),
        "calls": calls,
        "input": given,
        "output": sum(row.usage.output for row in group),
    }
    row: dict[str, object] = {name: value for name, value in known.items() if value or name != "day"}
    row |= figures
    if as_json:
        return row | {
            "cache_read": cached,
            "cost": round(cost, 6),
            "estimated": round(estimated, 6),
            "unpriced_calls": unpriced,
        }
    hits = f"{100 * cached // given} %" if given else "-"
    shown = {"task": known.get("task") or "-", "cache_hits": hits, "cost": _cost(cost, estimated, unpriced, calls)}
    return row | shown


def _cost(cost: float, estimated: float, unpriced: int, calls: int) -> str:
    """What it cost as far as anybody knows: an estimate is marked, an unknown is never shown as nothing."""
    if unpriced == calls:
        return "unknown"
    shown = f"{'~' if estimated else ''}${cost:.4f}"
    return f"{shown} + {unpriced} unknown" if unpriced else shown
