"""``hermes gateway channels``: which chats are known, and which are home."""

import click

from hermes_core.context import PluginContext
from hermes_platform_gateway.rows.kept import rows_of
from hermes_tables.tables import ago, emit, json_option, visible

__all__ = ["make_channels"]


def make_channels(ctx: PluginContext) -> click.Command:
    """``gateway channels``."""

    @click.command()
    @click.option("--platform", default="", help="Only those of one platform.")
    @json_option
    async def channels(platform: str, as_json: bool) -> None:
        """List the chats of everybody who wrote to the gateway; * marks who is at home where.

        TARGET is what a message can be sent to with the tool `message`, by the person it belongs to.
        """
        known = await rows_of(ctx).chats.list_chats(None, platform=platform)
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
            if chat.owner.profile == ctx.owner.profile
        ]
        dead = ["dead"] if any(chat.dead for chat in known) else []
        columns = ["target", "name", "kind", "person", "home", "seen", *dead]
        emit(rows, columns, as_json=as_json, empty="Nobody has written yet.")

    return channels
