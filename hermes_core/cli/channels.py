"""``hermes gateway channels``: which chats are known, and which are home."""

import click

from hermes_core.cli.scope import Scope
from hermes_core.gateway.rows.kept import rows_of
from hermes_core.tables import ago, emit, json_option, visible

__all__ = ["channels"]


@click.command()
@click.option("--platform", default="", help="Only those of one platform.")
@json_option
@click.pass_obj
def channels(scope: Scope, platform: str, as_json: bool) -> None:
    """List the chats of everybody who wrote to the gateway; * marks who is at home where.

    TARGET is what a message can be sent to with the tool `message`, by the person it belongs to.
    """
    known = scope.with_store(lambda store, _: rows_of(store).chats.list_chats(None, platform=platform))
    rows: list[dict[str, object]] = [
        {
            "target": chat.address if as_json else visible(chat.address),
            "name": chat.name,
            "kind": chat.kind,
            "person": chat.owner.person,
            "home": chat.home if as_json else "*" if chat.home else "",
            "account": chat.account,
            "seen": chat.seen if as_json else ago(chat.seen),
            "dead": chat.dead if as_json else visible(chat.dead),
        }
        for chat in known
        if chat.owner.profile == scope.home.profile
    ]
    columns = ["target", "name", "kind", "person", "home", "seen", *(["dead"] if any(c.dead for c in known) else [])]
    emit(rows, columns, as_json=as_json, empty="Nobody has written yet.")
