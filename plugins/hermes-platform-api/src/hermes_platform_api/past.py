"""What is known of a person's sessions and turns from before."""

from collections.abc import Mapping

from attrs import evolve

from hermes_core.brokers import DocumentsBroker
from hermes_core.context import PluginContext
from hermes_core.types import Ended, Event, Failed, PastTurn, Principal, Said, Started, Usage

__all__ = ["CHOSEN", "chosen_in", "owner_of", "told"]

CHOSEN = "chosen"  # the document of a session with what a command chose for it


def owner_of(ctx: PluginContext, person: str) -> Principal:
    """Who a person is here; nobody is the owner."""
    return evolve(ctx.owner, person=person) if person else ctx.owner


def told(past: PastTurn) -> list[Event]:
    """What a turn that is over came to, as events."""
    ids = {"session_id": past.session_id, "turn_id": past.turn_id}
    events: list[Event] = [Started(**ids, provider=past.provider, model=past.model)]
    if past.state == "done":
        events.append(Said(text=past.answer))
    elif past.state == "failed":
        events.append(Failed(kind="earlier", text=f"This request failed before: {past.error or 'no reason is known'}"))
    reason = past.state if past.state in ("done", "failed", "interrupted") else "failed"
    usage = past.usage if isinstance(past.usage, Usage) else Usage()
    return [*events, Ended(**ids, answer=past.answer, reason=reason, usage=usage)]


async def chosen_in(documents: DocumentsBroker, owner: Principal, session: str) -> Mapping[str, str]:
    """What commands chose for a session: who answers there, and how hard they think."""
    found = await documents.get(CHOSEN, owner=owner, session_id=session)
    value = found.value if found else None
    return {key: str(one) for key, one in value.items()} if isinstance(value, dict) else {}
