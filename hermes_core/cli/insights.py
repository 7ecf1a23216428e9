"""``hermes insights`` and ``hermes prompt-size``: what is used, and where it goes."""

import asyncio
import json

import click

from hermes_core.cli.scope import Scope
from hermes_core.cli.sessions import with_store
from hermes_core.cli.table import emit, json_option, say_table


@click.command("prompt-size")
@json_option
@click.pass_obj
def prompt_size(scope: Scope, as_json: bool) -> None:
    """Where the bytes and tokens of an empty session go. Tokens are estimated at four bytes each."""
    rows = asyncio.run(_sizes(scope))
    total = {"part": "total", "bytes": sum(r["bytes"] for r in rows), "tokens": sum(r["tokens"] for r in rows)}
    emit([*rows, total], ("part", "bytes", "tokens"), as_json=as_json, empty="")


async def _sizes(scope: Scope) -> list[dict[str, int]]:
    from hermes_core.agent.prompt import ordered

    async with scope.hermes() as hermes:
        runtime = hermes.runtime
        session = await runtime.take_up(origin="cli")
        blocks = ordered((await runtime.prompt(session)).blocks)
        sizes = [(f"prompt/{b.name}", len(b.text.encode()) + 2) for b in blocks]
        for spec in runtime.toolbox().specs(session):
            shape = {"name": spec.name, "description": spec.description, "parameters": spec.schema}
            sizes.append(
                (f"tool/{spec.name}", len(json.dumps({"type": "function", "function": shape}, separators=(",", ":"))))
            )
        return [{"part": part, "bytes": size, "tokens": size // 4} for part, size in sizes]  # type: ignore[dict-item]


@click.command()
@click.option("--days", default=30, show_default=True, help="How many days back.")
@json_option
@click.pass_obj
def insights(scope: Scope, days: int, as_json: bool) -> None:
    """Turns, calls, tokens, cache hits and cost by day and model."""
    found = with_store(scope, lambda store, owner: store.usage_by_day(owner, days=days))
    rows = [
        {
            "day": r.day,
            "provider": r.provider,
            "model": r.model,
            "turns": r.turns,
            "calls": r.calls,
            "input": r.usage.input,
            "output": r.usage.output,
            "cache_hits": f"{100 * r.usage.cache_read // r.usage.input} %" if r.usage.input else "-",
            "cost": round(r.usage.cost, 4),
        }
        for r in found
    ]
    columns = ("day", "provider", "model", "turns", "calls", "input", "output", "cache_hits", "cost")
    emit(rows, columns, as_json=as_json, empty="Nothing was used yet.")
    if rows and not as_json:
        _plot({r.day: r.usage.input + r.usage.output for r in reversed(found)})


def _plot(tokens: dict[str, int]) -> None:
    """Tokens a day as bars."""
    most = max(tokens.values()) or 1
    click.echo()
    say_table(
        [[day, f"{used:,}", "█" * max(1, 40 * used // most)] for day, used in tokens.items()], ("day", "tokens", "")
    )
