"""The models that mem0 asks: those of Hermes, by its settings, so that keys, costs and fallbacks are the kernel's.

mem0 works in a thread and waits; the calls are made in the event loop. Classes of mem0 are made when it is imported.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from hermes_core.context import PluginContext
from hermes_core.types import MediaRequest, Message, Request, Session, Text

__all__ = ["Models"]

_PATIENCE = 50.0  # seconds that a call may take; a memory has a minute for a look
_LONGEST = 8_000  # characters of a text that is asked for
_AT_ONCE = 64


class Models:
    """Both models for one piece of work. ``embedder`` and ``llm`` are what mem0 is given in the place of its own.

    ``model`` is who made the vectors, once one was made. Each text is asked for once.
    """

    def __init__(self, ctx: PluginContext, session: Session | None = None) -> None:
        self._ctx, self._session, self._loop = ctx, session, asyncio.get_running_loop()
        self._made: dict[str, list[float]] = {}
        self.model = ""

    def vectors(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector for each text. Raises HermesError, TimeoutError."""
        missing = list(dict.fromkeys(text for text in texts if text not in self._made))
        for at in range(0, len(missing), _AT_ONCE):
            some = missing[at : at + _AT_ONCE]
            asked = MediaRequest(texts=tuple(text[:_LONGEST] or " " for text in some))
            found = self._wait(self._ctx.llm.media("embed", asked, task="embed", session=self._session))
            self.model = found.model
            self._made.update(zip(some, ([float(one) for one in vector] for vector in found.vectors), strict=True))
        return [self._made[text] for text in texts]

    def answer(self, messages: Sequence[dict[str, Any]]) -> str:
        """Return what the model of ``auxiliary.memory`` says. Raises HermesError, TimeoutError."""
        system = "\n\n".join(str(one["content"]) for one in messages if one["role"] == "system")
        rest = [_message(one) for one in messages if one["role"] != "system"]
        first = [Message(role="system", parts=(Text(text=system),))] if system else []
        asked = Request(model="", messages=[*first, *rest])
        reply = self._wait(self._ctx.llm.complete(asked, task="memory", session=self._session))
        return "".join(part.text for part in reply.message.parts if isinstance(part, Text))

    def embedder(self) -> Any:
        """Return what mem0 has vectors made by."""
        from mem0.embeddings.base import EmbeddingBase  # type: ignore[import-untyped]

        models = self

        class Embedder(EmbeddingBase):  # type: ignore[misc]  # mem0 has no types
            def embed(self, text: str, memory_action: str | None = None) -> list[float]:
                return models.vectors([text])[0]

            def embed_batch(self, texts: Sequence[str], memory_action: str = "add") -> list[list[float]]:
                return models.vectors(texts)

        return Embedder()

    def llm(self) -> Any:
        """Return what mem0 has facts taken out by."""
        from mem0.llms.base import LLMBase  # type: ignore[import-untyped]

        models = self

        class Llm(LLMBase):  # type: ignore[misc]  # mem0 has no types
            def generate_response(self, messages: Sequence[dict[str, Any]], *_: Any, **__: Any) -> str:
                return models.answer(messages)

        return Llm()

    def _wait(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_PATIENCE)


def _message(one: dict[str, Any]) -> Message:
    return Message(role="assistant" if one["role"] == "assistant" else "user", parts=(Text(text=str(one["content"])),))
