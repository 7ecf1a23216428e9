"""Events of the home that a rule is for: each orders a turn, once, whatever dies in between.

What was seen last is kept. What changed while nobody listened is found when Home Assistant is reached again, and is
then an event as any other. An event is named by its rule, its entity and its instant, so the same one orders nothing
twice: the order comes first, what was seen is written behind it.
"""

import asyncio
import time
from typing import Any

from hermes_core.context import PluginContext
from hermes_core.errors import ToolError, UserError
from hermes_core.kinds import Service
from hermes_core.types import Message, Text, TurnBounds, TurnOrder
from hermes_tool_homeassistant.client import Client
from hermes_tool_homeassistant.config import Config, RuleSettings
from hermes_tool_homeassistant.lasting import client_of
from hermes_tool_homeassistant.reading import plain
from hermes_tool_homeassistant.rules import GONE, Change, hits, watched

__all__ = ["Watch"]

_SEEN = "seen"  # the document: what each watched entity was last, and when rules were answered
_MOST = 5_000  # entities that are kept in mind
_PAUSES = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0)  # seconds before it is reached for again
_WRITE = 2.0  # seconds after which what was seen is written, when nothing was ordered
_HOUR = 3600.0
_WHOSE = "Home Assistant"


class Watch(Service):
    """Listens as long as a gateway runs; of all gateways that share the store, one."""

    name = "homeassistant"
    alone = True

    def __init__(self, ctx: PluginContext) -> None:
        self._ctx, self._config = ctx, ctx.config or Config()
        self._states: dict[str, list[str]] = {}  # entity -> its last real state, and since when
        self._answered: dict[str, float] = {}  # rule and entity -> when it was last answered
        self._hour: list[float] = []  # when something was answered, of the last hour
        self._wrong, self._behind = "", False

    async def run(self) -> None:
        """Listen, and begin again when the connection ends. Raises WrongToken."""
        if not self._config.rules:
            return
        await self._remember()
        failed = 0
        while True:
            client = client_of(self._ctx)
            try:
                await client.open()
                failed = 0
                await self._listen(client)
            except ToolError as error:
                if not error.retry:
                    raise UserError(error.text, hint=error.hint) from error
                self._wrong = error.text
            finally:
                await client.close()
                if self._behind:
                    await self._keep()
            await asyncio.sleep(_PAUSES[min(failed, len(_PAUSES) - 1)])
            failed += 1

    def health(self) -> str:
        """Why it does not listen, or what it could not order."""
        return self._wrong

    async def status(self) -> str:
        """When it last ordered something."""
        kept = await self._ctx.documents.get(_SEEN)
        last = max((kept.value.get("hour") or [0.0]) if kept else [0.0])
        return f"last event {time.strftime('%Y-%m-%d %H:%M', time.localtime(last))}" if last else ""

    async def _remember(self) -> None:
        kept = await self._ctx.documents.get(_SEEN)
        value: dict[str, Any] = kept.value if kept else {}
        self._states, self._answered = dict(value.get("states", {})), dict(value.get("answered", {}))
        self._hour = [*value.get("hour", [])]

    async def _keep(self) -> None:
        value = {"states": self._states, "answered": self._answered, "hour": self._hour}
        await self._ctx.documents.put(_SEEN, value)
        self._behind = False

    async def _listen(self, client: Client) -> None:
        events = await client.listen("state_changed")  # first: what happens while the states are read comes twice
        for state in await client.ask("get_states") or ():
            await self._look(state)
        await self._keep()
        self._wrong = ""
        while True:
            try:
                async with asyncio.timeout(_WRITE):
                    event = await events.get()
            except TimeoutError:
                if self._behind:
                    await self._keep()
                continue
            if event is None:
                break
            data = event.get("data") if isinstance(event, dict) else None
            await self._look(data.get("new_state") if isinstance(data, dict) else None)
        raise ToolError(f"The connection to Home Assistant ended: {client.told}.")

    async def _look(self, state: Any) -> None:
        """Look at a state as it is told now."""
        if not isinstance(state, dict):
            return
        entity, now, when = (str(state.get(key, ""))[:255] for key in ("entity_id", "state", "last_changed"))
        if not entity or not watched(self._config.rules, entity):
            return
        before, since = self._states.get(entity, ["", ""])
        if not before and len(self._states) >= _MOST:
            return
        if before == now or (since and when <= since):
            return
        attributes = state.get("attributes")
        name = plain(attributes.get("friendly_name"), 80) if isinstance(attributes, dict) else ""
        change = Change(entity, before, now, when, name)
        if before:  # what was never seen before did not change
            for rule in hits(self._config.rules, change):
                await self._answer(rule, self._config.rules[rule], change)
        if now not in GONE or not before:
            self._states[entity], self._behind = [now, when], True

    async def _answer(self, name: str, rule: RuleSettings, change: Change) -> None:
        now, key = time.time(), f"{name} {change.entity}"
        if now - self._answered.get(key, 0.0) < rule.pause:
            return
        self._hour = [one for one in self._hour if now - one < _HOUR]
        if len(self._hour) >= self._config.hourly:
            self._wrong = f"more than {self._config.hourly} events in an hour: {name} was not answered"
            return
        try:
            session = await self._ctx.turns.queue(_message(rule, change), order=_order(name, rule, change))
        except UserError as error:
            self._wrong = f"the rule {name} could not be answered: {error.text}"
            self._ctx.log.warning("%s", self._wrong)
            return
        if not session:  # this very event was ordered before
            return
        self._ctx.log.info("%s changed: the rule %s is answered in %s", change.entity, name, session)
        self._answered = {one: at for one, at in self._answered.items() if now - at < 604_800} | {key: now}
        self._hour.append(now)
        if change.after not in GONE:
            self._states[change.entity] = [change.after, change.when]
        await self._keep()


def _message(rule: RuleSettings, change: Change) -> Message:
    """The person's own words, and what happened, which are nobody's."""
    name = f" ({change.name})" if change.name else ""
    happened = (
        f"{plain(change.entity)}{name} became {plain(change.after)}; it was {plain(change.before)}. {change.when}"
    )
    return Message(role="user", parts=(Text(text=f"{rule.say}\n"), Text(text=happened, quotes=_WHOSE)), untrusted=True)


def _order(name: str, rule: RuleSettings, change: Change) -> TurnOrder:
    return TurnOrder(
        session=rule.session,
        event=f"{name} {change.entity} {change.when}",
        deliver=rule.deliver,
        ask=rule.ask,
        bounds=TurnBounds(tools=rule.tools, calls=rule.calls),
    )
