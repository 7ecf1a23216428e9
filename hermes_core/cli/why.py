"""``hermes why``: what became of a message."""

import json
import time
from typing import Any

import attrs
import click

from hermes_core.cli.scope import Scope
from hermes_core.errors import UnknownName, UserError
from hermes_core.gateway.commands.why import clock, steps, verdict
from hermes_core.store.paths import Path
from hermes_core.tables import emit, json_option


@click.command()
@click.argument("message", default="latest")
@json_option
@click.pass_obj
def why(scope: Scope, message: str, as_json: bool) -> int:
    """Print the path of a message: what was received, the turn, model and tool calls, what was sent, the receipt.

    MESSAGE is a trace (as logs and receipts have it), a turn, an event or message id of a platform, the number of a
    row of the outbox, or `latest`. The last line says where it stopped, and what to do. Ends with status 1 when the
    answer has not arrived.
    """
    found = scope.with_store(lambda store, owner: store.paths(message, owner, everybody=True))
    if not found:
        hint = f"`{scope.name} logs --json` shows traces; `{scope.name} why` the last message."
        raise UnknownName("message", message, hint=hint)
    if len(found) > 1:
        names = "\n".join(f"  {path.trace or path.turns[0]['id']}  {_came(path)}" for path in found[:10])
        raise UserError(f"{message} names several messages:\n{names}", hint="Say which, by the word in front.")
    path = found[0]
    arrived, words = verdict(path, scope.name)
    clean = scope.settings.masks.text
    if as_json:
        click.echo(json.dumps(scope.settings.masks.data(_data(scope, path, words, arrived=arrived)), default=str))
    else:
        _print(scope, path)
        click.echo(clean(words))
    return 0 if arrived else 1


def _print(scope: Scope, path: Path) -> None:
    found = steps(path, _names(scope))
    day = time.strftime("%Y-%m-%d", time.localtime(found[0].at)) if found else ""
    click.secho(f"Message {path.trace or path.turns[0]['id']}, {day}", bold=True)
    clean = scope.settings.masks.text
    rows = [
        {
            "time": clock(step.at),
            "step": step.step,
            "what": clean(step.what),
            "took": f"{step.seconds:.2f} s" if step.seconds else "",
            "outcome": clean(step.outcome),
        }
        for step in found
    ]
    emit(rows, ("time", "step", "what", "took", "outcome"), as_json=False, empty="")


def _data(scope: Scope, path: Path, words: str, *, arrived: bool) -> dict[str, Any]:
    """The path for programs; people who are not the asker by names that stand for them."""
    name = _names(scope)
    received = [
        row if row["mine"] else {**row, "person": name(row["person"]), "address": {"kind": row["address"].get("kind")}}
        for row in path.received
    ]
    told = {"trace": path.trace, "arrived": arrived, "verdict": words}
    return {
        **told,
        "steps": [attrs.asdict(step) for step in steps(path, name)],
        "received": received,
        "turns": list(path.turns),
        "outgoing": list(path.outgoing),
    }


def _names(scope: Scope) -> Any:
    name = scope.settings.masks.name
    return lambda value: name("person", value) if value else ""


def _came(path: Path) -> str:
    row = path.received[0] if path.received else None
    when = row["received"] if row else path.turns[0]["started"] if path.turns else path.outgoing[0]["created"]
    where = row["platform"] if row else ""
    return f"{time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(when))} {where}"
