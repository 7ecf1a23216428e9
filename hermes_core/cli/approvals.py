"""``hermes approvals`` and ``hermes grants``: answer from another terminal, and take back what was allowed."""

import getpass

import click

from hermes_core.cli.scope import Scope
from hermes_core.errors import UnknownName, UserError
from hermes_core.store.approvals import Approval
from hermes_core.tables import ago, emit, json_option
from hermes_core.types import Outcome, Principal, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hermes_core.store.journal import Store


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def approvals(context: click.Context, as_json: bool) -> None:
    """Questions that wait for your yes, wherever they were asked. Without a command: list them."""
    _listed(context, list_approvals, as_json)


@approvals.command("list")
@click.option("--all", "closed", is_flag=True, help="Those that are settled too.")
@click.option(
    "-n", "--limit", default=20, type=click.IntRange(min=1), show_default=True, help="How many, newest first."
)
@json_option
@click.pass_obj
def list_approvals(scope: Scope, closed: bool = False, limit: int = 20, as_json: bool = False) -> None:
    """List open questions, newest first."""
    rows = scope.with_store(lambda store, owner: store.list_approvals(owner, closed=closed, limit=limit, admin=True))
    shown = [
        {**_facts(row), "asked": row.asked if as_json else ago(row.asked), "risk": row.risk, "call": row.subject}
        for row in rows
    ]
    emit(shown, ("id", "asked", "state", "session_id", "call"), as_json=as_json, empty="No question is open.")


@approvals.command()
@click.argument("which")
@json_option
@click.pass_obj
def show(scope: Scope, which: str, as_json: bool) -> None:
    """Print a question in full: what would run, why it is asked, what a lasting yes would cover."""
    row = scope.with_store(lambda store, owner: store.find_approval(owner, which, admin=True))
    if as_json:
        emit([{**_facts(row), "asked": row.asked, "risk": row.risk, "call": row.subject}], (), as_json=True, empty="")
        return
    lines = (
        ("Call", row.subject),
        ("Risk", row.risk),
        ("--session or --always would allow", row.covers),
        ("Session", row.session_id),
        ("Asked by", row.owner.person if row.addressee else ""),
        ("Asked", ago(row.asked)),
        ("State", "open" if row.state == "open" else f"{row.told}. {row.reason}".strip()),
    )
    for name, text in lines:
        if text:
            click.echo(f"{name}: {visible(text)}")


@approvals.command()
@click.argument("which")
@click.option("--session", "choice", flag_value="session", help="Also later, in the same conversation.")
@click.option("--always", "choice", flag_value="always", help="Also later, in every conversation.")
@click.option("--once", "choice", flag_value="once", default="once", help="This one call (the default).")
@json_option
@click.pass_obj
def allow(scope: Scope, which: str, choice: str, as_json: bool) -> None:
    """Say yes. What --session and --always cover is told by `show`."""
    _answer(scope, which, "allow", choice, as_json)


@approvals.command()
@click.argument("which")
@json_option
@click.pass_obj
def deny(scope: Scope, which: str, as_json: bool) -> None:
    """Say no."""
    _answer(scope, which, "deny", "deny", as_json)


def _answer(scope: Scope, which: str, outcome: Outcome, choice: str, as_json: bool) -> None:
    """Settle a question, once. Raises UserError when it is settled, or the choice was not offered."""
    by = f"{getpass.getuser()} in another terminal"
    verdict = Verdict(
        outcome=outcome, choice=choice, by=by, reason="" if outcome == "allow" else "refused by the person"
    )

    async def settle(store: "Store", owner: Principal) -> Approval:
        found = await store.find_approval(owner, which, admin=True)
        if found.state == "open" and choice not in (*found.choices, "deny"):
            raise UserError(f"This can be allowed {', '.join(found.choices[:-1])}; {choice} is not offered for it.")
        settled, mine = await store.settle_approval(found.owner, found.id, verdict)
        if not mine:
            raise UserError(f"{found.id} is already {settled.told}.", hint="The first answer counts.")
        return settled

    row = scope.with_store(settle)
    if as_json:
        emit([{**_facts(row), "asked": row.asked, "risk": row.risk, "call": row.subject}], (), as_json=True, empty="")
    elif row.verdict != "allow":
        click.echo(f"Denied: {visible(row.subject)}")
    else:
        click.echo(f"Allowed ({row.choice}): {visible(row.subject)}")
        if row.choice != "once":
            how_long = "From now on allowed" if row.choice == "always" else "Allowed until this conversation ends"
            click.echo(f"{how_long}: {visible(row.covers)}")


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def grants(context: click.Context, as_json: bool) -> None:
    """What you allowed beyond single calls. Without a command: list it."""
    _listed(context, list_grants, as_json)


@grants.command("list")
@json_option
@click.pass_obj
def list_grants(scope: Scope, as_json: bool = False) -> None:
    """List what you allowed for conversations and for good."""
    rows = scope.with_store(lambda store, owner: store.grants(owner, every=True))
    shown = [
        {
            "id": row.id,
            "holds": f"session {row.session_id}" if row.session_id else "always",
            "since": row.created if as_json else ago(row.created),
            "folder": row.folder,
            "allows": row.words,
        }
        for row in rows
    ]
    emit(shown, ("id", "holds", "since", "allows"), as_json=as_json, empty="You granted nothing beyond single calls.")


@grants.command()
@click.argument("numbers", nargs=-1, required=True, type=int)
@click.pass_obj
def forget(scope: Scope, numbers: tuple[int, ...]) -> None:
    """Take grants back. It holds at once, for running conversations too."""
    for number in numbers:

        async def take(store: "Store", owner: Principal, number: int = number) -> bool:
            return await store.forget_grant(owner, number)

        if not scope.with_store(take):
            raise UnknownName("grant", str(number), hint=f"See: {scope.name} grants")
        click.echo(f"Grant {number} is taken back.", err=True)


def _listed(context: click.Context, command: click.Command, as_json: bool) -> None:
    """List where no command was given; to one that was, ``--json`` before it means the same as behind it."""
    if context.invoked_subcommand is None:
        context.invoke(command, as_json=as_json)
    elif as_json:
        context.default_map = {context.invoked_subcommand: {"as_json": True}}


def _facts(row: Approval) -> dict[str, object]:
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
    }


def visible(text: str) -> str:
    """Text in which nothing moves the cursor or hides."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)
