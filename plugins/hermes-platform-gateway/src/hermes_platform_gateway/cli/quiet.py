"""``hermes people quiet``: when somebody is left in peace."""

from collections.abc import Sequence

import click

from hermes_core.context import PluginContext
from hermes_core.errors import UserError
from hermes_core.types import Principal
from hermes_platform_gateway.people.register import Register
from hermes_platform_gateway.rows.kept import rows_of
from hermes_platform_gateway.rows.values import QuietHours
from hermes_platform_gateway.targets import resolve
from hermes_tables.tables import emit, json_option, visible
from hermes_tool_kit.hours import parse_hours, zone_of

__all__ = ["make_quiet"]


def make_quiet(ctx: PluginContext) -> click.Command:
    """``people quiet``."""

    @click.command()
    @click.argument("who", metavar="WHO")
    @click.argument("hours", default="", metavar="[HOURS|off]")
    @click.option("--zone", default="", help="Whose clock, as Europe/Berlin; this machine's where nothing is said.")
    @click.option("--chat", default="", metavar="TARGET", help="Only in this chat of theirs.")
    @json_option
    async def quiet(who: str, hours: str, zone: str, chat: str, as_json: bool) -> None:
        """Say when somebody is left in peace: `hermes people quiet anna 22:00-07:00`; without hours it shows them.

        What nobody asked for just then waits until they are over: results of jobs, notices, messages of tools. Answers
        to what they write come at once. `off` takes them back.
        """
        owner = Principal(profile=ctx.owner.profile, person=(await Register.of(ctx)).find(who).person)
        rows = rows_of(ctx)
        place = {"platform": "", "chat": ""}
        if chat:
            found = resolve(chat, await rows.chats.list_chats(owner))
            if len(found) != 1:
                raise UserError(f"{chat!r} is not one chat.")
            place = {"platform": found[0].platform, "chat": found[0].chat}
        if hours == "off":
            await rows.quiet.drop(owner, **place)
        elif hours:
            begins, ends = parse_hours(hours)
            zone_of(zone)
            known = {"profile": owner.profile, "person": owner.person, **place}
            await rows.quiet.set(QuietHours(begins=begins, ends=ends, zone=zone, **known))
        _shown(await rows.quiet.of(owner), as_json=as_json)

    return quiet


def _shown(there: Sequence[QuietHours], *, as_json: bool) -> None:
    rows = [
        {
            "person": visible(one.person),
            "from": one.begins,
            "until": one.ends,
            "zone": one.zone or ("" if as_json else "this machine's"),
            "chat": f"{one.platform}:{one.chat}" if one.platform else ("" if as_json else "all"),
        }
        for one in there
    ]
    emit(rows, ("person", "from", "until", "zone", "chat"), as_json=as_json, empty="There are no quiet hours.")
