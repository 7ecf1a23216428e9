"""What a call of the tool really does: a look sends nothing, and what only its person reads needs no yes."""

from hermes_core.brokers import MessagesBroker
from hermes_core.errors import UnknownName, UserError
from hermes_core.types import Effect, Session, ToolCall, Verdict

LOOKS, TO_ITSELF = frozenset({Effect.RECALL}), frozenset({Effect.READ_FILES})


async def judge(messages: MessagesBroker, session: Session, call: ToolCall) -> Verdict | None:
    """The effects of one call, where they are less than those of sending; None leaves it at what the tool says.

    What can go nowhere is refused before a person is asked about it. Where the conversation holds text from outside,
    nothing is less: the text may have asked for the message.
    """
    if call.arguments.get("action", "send") == "targets":
        return Verdict(outcome="allow", by="message", reason="it only looks", effects=LOOKS)
    target = str(call.arguments.get("target") or "").strip()
    try:
        chats = await messages.find(session.owner, target, session)
        asked = await messages.find(session.owner, "origin", session)
    except UnknownName:  # its words hold names that other people chose
        why = f"there is no target {target[:100]!r}" if target else "it says no target"
        return Verdict(outcome="deny", by="message", reason=f"{why}; action=targets lists them")
    except UserError as error:
        return Verdict(outcome="deny", by="message", reason=error.text)
    here = {chat.address for chat in asked}
    if not session.untrusted and all(chat.kind == "dm" or chat.address in here for chat in chats):
        return Verdict(outcome="allow", by="message", reason="it goes to the person who asks", effects=TO_ITSELF)
    return None
