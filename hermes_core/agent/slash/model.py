"""Who answers in a conversation, and how hard it thinks, as its person chooses."""

from collections.abc import Mapping, Sequence
from typing import Literal

from hermes_core.agent.bounds import answers
from hermes_core.agent.route.choice import asked
from hermes_core.agent.runtime import Runtime
from hermes_core.config.schema import EFFORTS
from hermes_core.errors import HermesError, UnknownName, UserError
from hermes_core.kinds import ConversationModel, ModelRoute
from hermes_core.patterns import pattern
from hermes_core.slash import HostSide
from hermes_core.types import Session

__all__ = ["ModelAtHand"]

_DATE = pattern(r"-[0-9]{4,8}")  # what some names end with, and may be left out


class ModelAtHand(ConversationModel):
    """The model of one conversation: its own, or where ``side.chosen`` is None that of the whole process."""

    def __init__(self, runtime: Runtime, side: HostSide, session: Session) -> None:
        self._runtime, self._side, self._session = runtime, side, session

    async def current(self) -> tuple[str, str]:
        return await self.choose("")

    async def choose(self, wanted: str, *, span: Literal["session", "once", "global"] = "session") -> tuple[str, str]:
        route = await self.answering(wanted, span)
        return route.name, route.model

    async def answering(self, wanted: str = "", span: str = "") -> ModelRoute:
        """Find who answers here, once it is chosen. Raises UserError for a model that nobody has, or may not be."""
        if wanted not in ("", "default"):
            await self._offered(wanted)
        if self._side.chosen is not None:
            return await self._alone(self._side.chosen, wanted, span)
        if wanted == "default":
            configured = self._runtime.settings.config.model
            wanted = f"{configured.provider}:{configured.default}" if configured.provider else configured.default
        if span == "once" and wanted:
            route = await self._runtime.routes.get(wanted)
            self._side.once = wanted
            return route
        if wanted:
            await self._runtime.routes.use(wanted)
        route = await self._runtime.routes.get()
        if wanted:
            store = await self._runtime.store()
            await store.sessions.update(self._session.id, provider=route.name, model=route.model)
        return route

    @property
    def _models(self) -> Sequence[str] | None:
        return self._runtime.guests.rights(self._session.owner, self._side.speaker).models

    async def _offered(self, wanted: str) -> None:
        """Refuse a model that its provider does not name, or that is not for its person. Raises HermesError."""
        current = self._runtime.routes.current
        here = current is not None and ":" not in wanted and self._side.chosen is None
        route = await self._runtime.routes.get(f"{current.name}:{wanted}" if current and here else wanted)
        if not answers(models := self._models, route.name, route.model):
            raise UserError(
                f"{route.name}:{route.model} is not for you.", hint=f"Choose of: {', '.join(models or ())}."
            )
        try:
            names = [one.name for one in await asked(self._runtime.dispatch, route.provider, "models")]
        except HermesError:  # its owner may know better than a provider that cannot say
            if self._runtime.guests.is_guest(self._session.owner):
                raise
            return
        dated = (name.removeprefix(route.model) for name in names)
        if names and not any(not rest or _DATE.fullmatch(rest) for rest in dated):
            raise UnknownName("model", route.model, names, hint="Write /model provider:model.")

    async def _alone(self, chosen: Mapping[str, str], wanted: str, span: str) -> ModelRoute:
        """Find the same where each conversation chooses for itself."""
        if span == "once":
            raise UserError("In a chat a model answers until another one is chosen.")
        if not wanted:
            return await self._runtime.routes.get_for(chosen.get("model", ""), "", self._models)
        words = "" if wanted == "default" else wanted
        route = await self._runtime.routes.get_for(words, "", self._models)
        if span != "global":
            await self._side.choose(model=f"{route.name}:{route.model}" if words else "")
        return route

    async def effort(self, wanted: str = "") -> str:
        alone = self._side.chosen is not None
        if wanted not in ("", *EFFORTS, *(["default"] if alone else ())):
            raise UserError(f"There is no effort {wanted!r}: {', '.join(EFFORTS)}.")
        if alone and wanted:
            await self._side.choose(effort="" if wanted == "default" else wanted)
        if self._side.chosen is not None:
            return self._side.chosen.get("effort", "")
        models = self._runtime.models
        models.effort = wanted or models.effort
        return models.effort or self._runtime.settings.config.model.effort
