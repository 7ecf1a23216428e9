"""Messages to where another one came from."""

from hermes_core.types import Chat, Envelope, Message, Part, Principal, Text
from hermes_platform_gateway.rows.values import KnownChat, Outgoing

__all__ = ["answer_to", "envelope_of", "said"]


def said(text: str, *more: Part) -> Message:
    """A message of ours."""
    return Message(role="assistant", parts=(Text(text=text), *more))


def answer_to(
    address: Envelope,
    owner: Principal,
    message: Message,
    *,
    key: str,
    kind: str = "notice",
    trace: str = "",
    session_id: str = "",
    turn_id: str = "",
    unasked: bool = False,
) -> Outgoing:
    """A message to the chat and thread that an envelope came from. The same ``key`` twice is one message.

    In groups it answers the message itself, so that people see whom it is for.
    """
    reply_to = address.message_id if address.kind != "dm" else ""
    return Outgoing(
        key=key,
        owner=owner,
        session_id=session_id,
        turn_id=turn_id,
        trace=trace,
        kind=kind,
        platform=address.platform,
        account=address.account,
        chat=Chat(address.chat, address.thread, reply_to),
        message=message,
        unasked=unasked,
    )


def envelope_of(chat: KnownChat) -> Envelope:
    """The address of a chat that is known, as of a message of its owner from there: its conversation is found by it."""
    known = {name: getattr(chat, name) for name in ("platform", "account", "chat", "thread", "kind", "sender")}
    return Envelope(**known, event_id="", message=Message(role="user", parts=()))
