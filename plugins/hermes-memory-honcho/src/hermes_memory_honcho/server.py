"""One person's workspace on a server of Honcho, by its own SDK.

In it are two peers, the person and Hermes. What is known of the person are the conclusions about them, from what they
said themselves; Hermes is not thought about. All of a person's goes when their workspace does.
"""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from hermes_core.errors import ToolError
from hermes_memory_honcho.config import Config

__all__ = ["Workspace", "opened"]

_AT_ONCE = 100  # messages, conclusions and rows in one request: what the server takes
_LONGEST = 20_000  # characters of a message
_PERSON, _HERMES = "person", "hermes"


class Workspace:
    """What is kept of one person, as long as it is open. Its methods raise ToolError, by ``opened``."""

    def __init__(self, honcho: Any) -> None:
        self._honcho = honcho

    async def everything(self) -> Sequence[Any]:
        """Return all conclusions about the person, newest first."""
        page = await (await self._conclusions()).list(size=_AT_ONCE)
        return [one async for one in page]

    async def near(self, query: str, limit: int, distance: float) -> Sequence[Any]:
        """Return conclusions that mean about that, nearest first."""
        view = await self._conclusions()
        return list(await view.query(query, top_k=min(max(limit, 1), _AT_ONCE), distance=distance))

    async def add(self, text: str) -> Any:
        """Keep a conclusion about the person."""
        return (await (await self._conclusions()).create([{"content": text}]))[0]

    async def forget(self, memo_id: str) -> None:
        """Let go of a conclusion."""
        await (await self._conclusions()).delete(memo_id)

    async def tell(self, session_id: str, said: Sequence[tuple[bool, str]]) -> None:
        """Send what was said in a session, each by the person or by Hermes; the server thinks about it by itself."""
        from honcho.api_types import PeerConfig  # type: ignore[import-untyped]

        person = await self._person()
        hermes = await self._honcho.aio.peer(_HERMES, configuration=PeerConfig(observe_me=False))
        session = await self._honcho.aio.session(_name(session_id), peers=[person, hermes])
        messages = [(person if theirs else hermes).message(text[:_LONGEST]) for theirs, text in said]
        for at in range(0, len(messages), _AT_ONCE):
            await session.aio.add_messages(messages[at : at + _AT_ONCE])

    async def card(self) -> Sequence[str]:
        """Return what the server says of who the person is, a line for each thing."""
        return await (await self._person()).aio.get_card() or ()

    async def erase(self) -> None:
        """Let go of all of it. What the server does not do at once, it does by itself."""
        for one in await self.everything():
            await self.forget(one.id)
        await (await self._person()).aio.set_card([])
        async for session in await self._honcho.aio.sessions(size=_AT_ONCE):
            await session.aio.delete()
        await self._honcho.aio.delete_workspace(self._honcho.workspace_id)

    async def _person(self) -> Any:
        return await self._honcho.aio.peer(_PERSON)

    async def _conclusions(self) -> Any:
        return (await self._person()).conclusions.aio


@asynccontextmanager
async def opened(config: Config, key: str, person: str, seconds: float) -> AsyncIterator[Workspace]:
    """Open a person's workspace, and close what was opened. Raises ToolError for whatever the server says."""
    try:
        from honcho import Honcho  # type: ignore[import-untyped]
        from honcho.http import exceptions as said  # type: ignore[import-untyped]
    except ImportError as error:
        text = f"The SDK of Honcho is not there: {error}"
        raise ToolError(text, retry=False, hint="pip install 'hermes-memory-honcho'") from None
    honcho = Honcho(
        api_key=key or None,
        base_url=config.base_url,
        workspace_id=f"{config.workspace}-{person}",
        timeout=seconds,
        max_retries=1,
    )
    try:
        yield Workspace(honcho)
    except (said.AuthenticationError, said.PermissionDeniedError):
        text = f"{config.base_url} does not take the key."
        raise ToolError(text, retry=False, hint="Set HONCHO_API_KEY, or memories.honcho.api_key.") from None
    except said.NotFoundError as error:
        raise ToolError(f"{config.base_url} does not know that: {error}", retry=False) from error
    except said.HonchoError as error:
        hint = "Is the server there? memories.honcho.base_url says where."
        raise ToolError(f"{config.base_url} could not do it: {error}", hint=hint) from None
    finally:  # the SDK has no close of its own for its two clients
        honcho._http.close()
        await honcho._async_http_client.close()


def _name(text: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_-]", "-", text)[:200] or "none"
