"""``hermes insights``: what was used, and what it cost."""

from collections.abc import Sequence

import click

from hermes_core.context import PluginContext
from hermes_core.tables import emit, json_option
from hermes_core.types import UsageRow

__all__ = ["make_insights"]


def make_insights(ctx: PluginContext) -> click.Command:
    """``insights``."""

    @click.command()
    @click.option("--days", default=30, type=click.IntRange(min=1), show_default=True, help="How many days back.")
    @click.option("--daily", is_flag=True, help="One row for each day.")
    @json_option
    async def insights(days: int, daily: bool, as_json: bool) -> None:
        """Calls, tokens, cache hits and cost by provider, model and task. ~ marks an estimate from list prices."""
        found = await ctx.sessions.usage(ctx.owner, days=days)
        groups: dict[tuple[str, ...], list[UsageRow]] = {}
        for row in found:
            groups.setdefault((row.day if daily else "", row.provider, row.model, row.task), []).append(row)
        rows = [_spent(key, group, as_json=as_json) for key, group in groups.items()]
        columns = ("day", "provider", "model", "task", "turns", "calls", "input", "output", "cache_hits", "cost")
        emit(rows, columns if daily else columns[1:], as_json=as_json, empty="Nothing was used yet.")

    return insights


def _spent(key: tuple[str, ...], group: Sequence[UsageRow], *, as_json: bool) -> dict[str, object]:
    calls, cost = sum(row.usage.calls for row in group), sum(row.usage.cost for row in group)
    given, cached = sum(row.usage.input for row in group), sum(row.usage.cache_read for row in group)
    estimated, unpriced = sum(row.estimated for row in group), sum(row.unpriced for row in group)
    known: dict[str, object] = dict(zip(("day", "provider", "model", "task"), key, strict=True))
    figures = {
        "turns": sum(row.turns for row in group),
        "calls": calls,
        "input": given,
        "output": sum(row.usage.output for row in group),
    }
    row = {name: value for name, value in known.items() if value or name != "day"} | figures
    if as_json:
        return row | {
            "cache_read": cached,
            "cost": round(cost, 6),
            "estimated": round(estimated, 6),
            "unpriced_calls": unpriced,
        }
    hits = f"{100 * cached // given} %" if given else "-"
    return row | {
        "task": known["task"] or "-",
        "cache_hits": hits,
        "cost": _cost(cost, estimated, unpriced, calls),
    }


def _cost(cost: float, estimated: float, unpriced: int, calls: int) -> str:
    """What it cost as far as anybody knows: an estimate is marked, an unknown is never shown as nothing."""
    if unpriced == calls:
        return "unknown"
    shown = f"{'~' if estimated else ''}${cost:.4f}"
    return f"{shown} + {unpriced} unknown" if unpriced else shown
