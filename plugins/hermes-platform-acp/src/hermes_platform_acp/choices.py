"""What was chosen for a session, and what there is to choose."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from hermes_core.errors import HermesError, UserError
from hermes_platform_acp.options import DEFAULT, EFFORT, EFFORTS, MODE, MODEL, MODES, Option, Value

if TYPE_CHECKING:
    from hermes_platform_acp.conversation import Conversation

__all__ = ["Choices"]

JSON: TypeAlias = Any

_CHOSEN = "chosen"  # the document of a session with what was chosen for it
_LISTING = 5.0  # seconds within which a provider says which models it has


class Choices:
    """Those of one session; kept with it."""

    def __init__(self, conversation: "Conversation") -> None:
        self._conversation, self._ctx, self._side = conversation, conversation.ctx, conversation.side
        self._models: Sequence[str] = ()

    async def remember(self) -> None:
        """Take up what was chosen for this session before."""
        found = await self._ctx.documents.get(
            _CHOSEN, owner=self._conversation.session.owner, session_id=self._conversation.session.id
        )
        value = found.value if found and isinstance(found.value, dict) else {}
        self._side.chosen = {key: str(one) for key, one in value.items() if key in (MODEL, EFFORT)}
        if mode := value.get(MODE):
            try:
                self._conversation.at_hand.mode(str(mode))
            except UserError:  # no person started this program, and no other chooses it
                return

    async def keep(self, **chosen: str) -> None:
        """Write down what was chosen; an empty text takes it back."""
        owner, name = self._conversation.session.owner, self._conversation.session.id

        def changed(before: JSON) -> JSON:
            known = before if isinstance(before, dict) else {}
            return {key: one for key, one in {**known, **chosen}.items() if one} or None

        await self._ctx.documents.change(_CHOSEN, changed, owner=owner, session_id=name)

    async def choose(self, option: str, value: str) -> Sequence[Option]:
        """Choose one value of an option, and say how all are. Raises HermesError."""
        here = self._conversation.at_hand
        if option == MODE:
            if value not in {one.id for one in MODES}:
                raise UserError(f"There is no mode {value[:40]!r}: {', '.join(one.id for one in MODES)}.")
            here.mode(value)
            await self.keep(**{MODE: value})
        elif option == MODEL:
            await here.model.choose(value)
        else:
            await here.model.effort(value)
        return await self.options()

    async def options(self) -> Sequence[Option]:
        """Return how the session is set. A model that cannot be told is left out."""
        here = self._conversation.at_hand
        mode = Option(id=MODE, name="Approvals", category="mode", value=here.mode(), values=MODES)
        try:
            provider, model = await here.model.current()
        except HermesError:
            return [mode]
        current, effort = f"{provider}:{model}", await here.model.effort() or DEFAULT
        names = self._models if current in self._models else (current, *self._models)
        models = [Value(one, one.partition(":")[2] or one) for one in names]
        return [
            mode,
            Option(id=MODEL, name="Model", category="model", value=current, values=models),
            Option(id=EFFORT, name="Thinking", category="thought_level", value=effort, values=EFFORTS),
        ]

    async def list_models(self) -> None:
        """Ask which models there are, and tell the editor where there are more than one."""
        try:
            async with asyncio.timeout(_LISTING):
                rows = await self._ctx.models.list()
        except (HermesError, TimeoutError):
            return
        self._models = tuple(f"{row.provider}:{row.model.name}" for row in rows)
        if len(self._models) > 1:
            await self._conversation.send(
                {"sessionUpdate": "config_option_update", **self._conversation.shapes.chosen(await self.options())}
            )
