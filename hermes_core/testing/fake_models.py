"""What models answer and were told, without a kernel."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hermes_core.brokers import HistoryBroker, LlmBroker
from hermes_core.errors import NotPermitted, ProviderError, UnknownName, UserError
from hermes_core.types import MediaRequest, MediaResponse, MediaVerb, Message, Principal, Request, Response, Session

if TYPE_CHECKING:
    from hermes_core.plugins.manifest import Manifest

__all__ = ["FakeHistories", "FakeReplies", "required"]


def required(manifest: "Manifest", permission: str) -> None:
    """Raise NotPermitted, as the kernel does, for what a manifest does not ask for."""
    if permission not in manifest.kernel:
        raise NotPermitted(
            manifest.label,
            f"used {permission} without declaring it.",
            hint=f"Declare it in hermes-plugin.toml: [permissions] kernel = [{permission!r}]",
        )


class FakeHistories(HistoryBroker):
    """Contexts in force by session id, as strict as the kernel's."""

    def __init__(self, manifest: "Manifest", histories: Mapping[str, Sequence[Message]]) -> None:
        self._manifest = manifest
        self._histories = {name: list(messages) for name, messages in histories.items()}

    async def read(self, owner: Principal, session_id: str) -> Sequence[Message]:
        required(self._manifest, "history.rewrite")
        if session_id not in self._histories:
            raise UnknownName("session", session_id)
        return list(self._histories[session_id])

    async def replace(self, owner: Principal, session_id: str, messages: Sequence[Message]) -> None:
        from hermes_core.store.validity import misfit

        if why := misfit(await self.read(owner, session_id), messages):
            raise UserError(f"The context of {session_id} was not replaced: {why}.")
        self._histories[session_id] = list(messages)


class FakeReplies(LlmBroker):
    """Answers what is scripted, one for each call."""

    def __init__(self, manifest: "Manifest", replies: Sequence[Response | MediaResponse]) -> None:
        self._manifest = manifest
        self._replies: list[Any] = list(replies)

    async def complete(self, request: Request, task: str = "", session: Session | None = None) -> Response:
        required(self._manifest, "llm.call")
        if not self._replies:
            raise ProviderError("No reply is scripted for this model call.", hint="plugin_context(replies=[…])")
        reply: Response = self._replies.pop(0)
        return reply

    async def media(
        self, verb: MediaVerb, request: MediaRequest, task: str = "", session: Session | None = None
    ) -> MediaResponse:
        required(self._manifest, "llm.call")
        if not self._replies:
            return await super().media(verb, request)
        reply: MediaResponse = self._replies.pop(0)
        return reply
