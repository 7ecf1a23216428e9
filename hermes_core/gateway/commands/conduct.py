"""Slash commands about how a turn is run: who answers, how hard it thinks, what needs a yes."""

from hermes_core.agent.policy.itself import run_by_tool
from hermes_core.config.schema import EFFORTS
from hermes_core.errors import UserError
from hermes_core.gateway.commands.deck import Deck, Room
from hermes_core.types import Session

__all__ = ["Conduct", "keep_model", "wanted_model"]

_MODES = {
    "ask": "a person decides what is risky.",
    "smart": "a model looks at risky commands first; you decide what it does not.",
    "off": "nothing is asked. Hard blocks, policy.deny and what a plugin refuses still hold.",
}
_BUSY = ("queue", "steer", "interrupt")


class Conduct(Room):
    """What people choose."""

    async def model(self, session: Session, rest: str) -> str:
        wanted, span = wanted_model(rest)
        runtime, conversation = self._runtime, self._deck.conversation(session.id)
        if wanted == "default":
            configured = runtime.settings.config.model
            wanted = f"{configured.provider}:{configured.default}" if configured.provider else configured.default
        if span == "once" and wanted:
            route = await runtime.routed(wanted)
            conversation.once = wanted
            return f"Your next message is answered by {route.model} from {route.name}."
        if wanted:
            await runtime.use_model(wanted)
        route = await runtime.routed()
        if wanted:
            await (await runtime.store()).update_session(session.id, provider=route.name, model=route.model)
        if span == "global":
            return await keep_model(self._deck, route.name, route.model)
        return f"{'Now answering' if wanted else 'Answering'}: {route.model} from {route.name}."

    async def reasoning(self, session: Session, rest: str) -> str:
        lasting, level = "--global" in rest.split(), rest.replace("--global", "").strip()
        if level in ("show", "hide"):
            shown = {"show": "full", "hide": "off"}[level]
            return await self._deck.write(f"platforms.{session.origin}.reasoning", shown)
        if level and level not in EFFORTS:
            raise UserError(f"There is no effort {level!r}: {', '.join(EFFORTS)}.")
        if level and lasting:
            return await self._deck.write("model.effort", level)
        router = self._runtime.router
        router.effort = level or router.effort
        now = router.effort or self._runtime.settings.config.model.effort
        return f"Effort: {now or 'as the provider likes'}, as far as the model knows it, until the program ends."

    async def permission(self, session: Session, rest: str) -> str:
        words, _, number = rest.partition(" ")
        if rest not in ("", "grants") and run_by_tool(self._runtime.home.brand):
            raise UserError("Only a person changes what may be done, and a tool started this conversation.")
        if words == "forget":
            return await self._forget(session, number.strip())
        if rest not in ("", "grants"):
            _set_mode(self._deck, session, rest)
        mode = self._runtime.policy.mode(session.id, session.owner)
        said = "" if rest == "grants" else f"Mode: {mode}, {_MODES[mode]} In this session, until the program ends.\n"
        grants = await (await self._runtime.store()).grants(session.owner, session_id=session.id)
        if not grants:
            return f"{said}You granted nothing beyond single calls."
        lines = (f"    {g.id}  {g.words}  ({'this session' if g.session_id else 'always'})" for g in grants)
        return "\n".join((f"{said}You granted:", *lines, "/permission forget N takes one back."))

    async def yolo(self, session: Session, _rest: str) -> str:
        self._deck.need_person()
        off = self._runtime.policy.mode(session.id, session.owner) == "off"
        _set_mode(self._deck, session, "ask" if off else "off")
        if off:
            return f"Asking again. Mode: ask, {_MODES['ask']}"
        return f"YOLO: in this session, until the program ends, {_MODES['off']} /yolo ends it."

    async def _forget(self, session: Session, number: str) -> str:
        if not number.isdecimal():
            raise UserError("Say which one: /permission forget N. /permission grants lists them.")
        if not await (await self._runtime.store()).forget_grant(session.owner, int(number)):
            raise UserError(f"There is no grant {number}. /permission grants lists them.")
        return f"Grant {number} is taken back; it will be asked about again."

    async def busy(self, session: Session, rest: str) -> str:
        conversation = self._deck.conversation(session.id)
        if rest not in ("", *_BUSY):
            raise UserError(f"There is no way {rest!r}: {', '.join(_BUSY)}.")
        conversation.busy = rest or conversation.busy
        now = conversation.busy or self._runtime.settings.config.agent.busy
        return f"What you say during a turn: {now}. In this terminal; /config agent.busy {now} makes it last."


def wanted_model(rest: str) -> tuple[str, str]:
    """The ``provider:model`` that is asked for, and for how long: ``global``, ``session`` or ``once``."""
    words = rest.split()
    spans = [word[2:] for word in words if word in ("--global", "--session", "--once")]
    words = [word for word in words if word[2:] not in spans]
    provider = ""
    if "--provider" in words:
        at = words.index("--provider")
        provider, words = f"{(words[at + 1 :] or [''])[0]}:", [*words[:at], *words[at + 2 :]]
    if len(words) > 1 or any(word.startswith("--") for word in words):
        raise UserError("Write /model [provider:]model, with --global or --once behind it.")
    return provider + "".join(words), (spans or ["session"])[-1]


async def keep_model(deck: Deck, provider: str, name: str) -> str:
    """Let a model answer from now on, in every new conversation. Raises UserError for anybody but an admin."""
    await deck.write("model.provider", provider)
    await deck.write("model.default", name)
    return f"From now on {name} from {provider} answers, here and in every new conversation."


def _set_mode(deck: Deck, session: Session, mode: str) -> None:
    if deck.runtime.guests.is_guest(session.owner):
        raise UserError("Only the owner of this Hermes changes what needs a yes, and in their own sessions.")
    deck.runtime.policy.set_mode(session.id, mode)
