"""Messages to the chats of a person."""

from collections.abc import Mapping
from typing import Any

from hermes_core.errors import UserError
from hermes_core.types import JSON, Message, Target, Text
from hermes_platform_mcp_serve.desk import Desk

__all__ = ["channels", "send"]


async def channels(desk: Desk, given: Mapping[str, Any]) -> Any:
    """``channels_list``."""
    wanted = given.get("platform", "")
    found = await desk.ctx.messages.targets(desk.owner)
    rows = [_row(one) for one in found if not wanted or one.address.partition(":")[0] == wanted]
    return desk.answer({"channels": rows})


async def send(desk: Desk, given: Mapping[str, Any]) -> Any:
    """``messages_send``: written down to be sent, once for each key. What a client says comes from outside."""
    target = given["target"].strip()
    if target in ("origin", "local"):
        raise UserError(f"{target} is no chat here.", hint="channels_list says which there are.")
    message = Message(role="assistant", parts=(Text(text=given["message"]),), untrusted=True)
    key = f"mcp-serve:{given['key']}" if given.get("key") else ""
    sent = await desk.ctx.messages.send(desk.owner, target, message, key=key)
    return desk.answer({"sent": [_row(one) for one in sent]})


def _row(one: Target) -> dict[str, JSON]:
    return {
        "target": one.address,
        "name": one.name,
        "kind": one.kind,
        "home": one.home,
        "served": one.served,
        **({"unreachable": one.dead} if one.dead else {}),
    }
