"""What a plugin may do to a request: append; or, with the permission for it, put a smaller context in place of the old.

It fails closed: a context that does not fit is a fault of its plugin, and the old one stays in force.
"""

from collections.abc import Sequence

from hermes_core.errors import ContractError, NotPermitted
from hermes_core.plugins.index import Installed
from hermes_core.store.validity import misfit
from hermes_core.types import Message, Request

__all__ = ["Rewriting"]


class Rewriting:
    """Judges the changes to one request, whose first ``sent`` messages a model may have seen.

    ``context`` is what stands between the system prompt and what plugins appended; ``by`` who rewrote it.
    """

    def __init__(self, context: Sequence[Message], sent: int) -> None:
        self.context, self.by, self._sent = list(context), "", sent

    def judge(self, plugin: Installed, before: Request, after: Request) -> Request:
        """The request that stands. Raises NotPermitted, ContractError."""
        sent, same = self._sent, after.tools == before.tools
        if same and list(after.messages[:sent]) == list(before.messages[:sent]):
            return after
        if not plugin.may("history.rewrite"):
            hint = 'Only append, or declare "history.rewrite" in [permissions] kernel.'
            raise plugin.error(NotPermitted, "changed what a model was told before", hint)
        first, appended = before.messages[0], list(before.messages[1 + len(self.context) :])
        end = len(after.messages) - len(appended)
        context = list(after.messages[1:end])
        if not same or list(after.messages[:1]) != [first] or list(after.messages[max(1, end) :]) != appended:
            why = "the system prompt, the tools and what others appended must stay"
        else:
            why = misfit(self.context, context)
        if why:
            raise plugin.error(ContractError, f"its new context was not used: {why}")
        self.context, self.by, self._sent = context, plugin.label, end
        return after

    def summary(self, before: int) -> str:
        """One line for the person; ``before`` is how many messages there were."""
        return f"To fit into the model, {before} messages were compacted to {len(self.context)}; all can be searched."
