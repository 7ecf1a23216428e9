"""What a plugin may do to a request: append; or, with the permission for it, put a smaller context in place of the old.

It fails closed: what does not fit is a fault of its plugin, and what was there before stays in force.
"""

from collections.abc import Sequence

from attrs import evolve

from hermes_core.codec import dumps, message_to_json, stored
from hermes_core.errors import ContractError, NotPermitted
from hermes_core.plugins.index import Installed
from hermes_core.store.validity import misfit
from hermes_core.types import Blob, Message, Request, Text

__all__ = ["Rewriting"]


class Rewriting:
    """Judges the changes to one request.

    ``context`` is what stands between the system prompt and what plugins appended; ``by`` who rewrote it.
    """

    def __init__(self, context: Sequence[Message]) -> None:
        self.context, self.by = list(context), ""

    def judge(self, plugin: Installed, before: Request, after: Request) -> Request:
        """Return the request that stands. Raises NotPermitted, ContractError."""
        old, same = list(before.messages), after.tools == before.tools
        if same and list(after.messages[: len(old)]) == old:
            return evolve(after, messages=(*old, *_added(plugin, after.messages[len(old) :])))
        if not plugin.may("history.rewrite"):
            hint = 'Only append, or declare "history.rewrite" in [permissions] kernel.'
            raise plugin.error(NotPermitted, "changed what a model was told before", hint)
        first, appended = old[0], old[1 + len(self.context) :]
        end = len(after.messages) - len(appended)
        context = list(after.messages[1:end])
        if not same or list(after.messages[:1]) != [first] or list(after.messages[max(1, end) :]) != appended:
            why = "the system prompt, the tools and what others appended must stay"
        else:
            why = misfit(self.context, context)
        if why:
            raise plugin.error(ContractError, f"its new context was not used: {why}")
        self.context, self.by = context, plugin.label
        return after

    def summary(self, before: int) -> str:
        """Return one line for the person; ``before`` is how many messages there were."""
        done = f"{before} messages were compacted to {len(self.context)}" if before != len(self.context) else ""
        return f"To fit into the model, {done or 'older outputs were shortened'}; all can be searched."


def _added(plugin: Installed, messages: Sequence[Message]) -> list[Message]:
    """Return what a plugin appended, as it will be read from the store, and with its name: no words of the person."""
    if any(m.role != "user" or not m.parts or not all(isinstance(p, (Text, Blob)) for p in m.parts) for m in messages):
        raise plugin.error(ContractError, 'what it appended was not used: messages of role "user" hold text and files')
    marked = (evolve(message, meta={"hermes": {"added": plugin.label}}) for message in messages)
    return [stored(dumps(message_to_json(message))) for message in marked]
