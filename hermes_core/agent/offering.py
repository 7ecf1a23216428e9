"""The offer of tools to the models of a conversation: what there is, as plugins choose from it."""

from collections.abc import Collection, Mapping, Sequence

from attrs import evolve

from hermes_core.agent.indirect import CALL
from hermes_core.agent.runtime import Runtime
from hermes_core.errors import ContractError, NotPermitted
from hermes_core.kinds import Tool
from hermes_core.plugins.index import Installed
from hermes_core.types import Offer, Session, ToolRow, ToolSpec

__all__ = ["hidden", "offered", "tool_rows"]


async def offered(runtime: Runtime, session: Session, begun: Sequence[ToolSpec] = ()) -> Offer:
    """Return what the models of a session are told of. ``begun`` is what they were told before: it stays as it was."""
    window = runtime.settings.config.model.context_length
    offer = runtime.toolbox().offer(session, window=window, begun=begun)
    return await runtime.dispatch.transform("offer_tools", "offer", offer, judge=_judge, session=session)


async def hidden(runtime: Runtime, session: Session) -> Mapping[str, str]:
    """Return the tools that a new conversation is not told of, and why not."""
    offer = await offered(runtime, session)
    unsaid = {spec.name: offer.why.get(spec.name, "not told of") for spec in offer.behind if spec.name != CALL}
    return {**runtime.toolbox().unmet(session), **unsaid}


async def tool_rows(
    runtime: Runtime, session: Session, tools: Mapping[str, Tool], off: Collection[str], *, gone: bool = False
) -> list[ToolRow]:
    """Return tools with why a new conversation is not told of each; ``gone`` adds those of which only that is known."""
    why = await hidden(runtime, session)
    found: dict[str, Tool | None] = {**tools, **dict.fromkeys(sorted({*why, *off} - tools.keys()) if gone else ())}
    return [
        ToolRow(
            name=name,
            toolset=one.toolset if one else "",
            description=one.description if one else "",
            effects=one.effects if one else frozenset(),
            off=name in off,
            hidden="" if name in off else why.get(name, ""),
        )
        for name, one in found.items()
    ]


def _judge(plugin: Installed, before: Offer, after: Offer) -> Offer:
    """Return the offer that stands. Raises NotPermitted, ContractError."""
    there = {spec.name: spec for spec in (*before.tools, *before.behind)}
    names = [spec.name for spec in after.tools]
    changed = {spec.name for spec in after.tools if spec.name in there and spec.schema != there[spec.name].schema}
    if strange := [n for n in names if n not in there or names.count(n) > 1 or n in changed]:
        raise plugin.error(
            ContractError, f"its offer was not used: {strange[0]} is none of the tools there, twice there, or changed"
        )
    sent = [spec for spec in before.tools if spec in before.sent]
    if list(after.tools[: len(sent)]) != sent:
        hint = "Keep what was sent at the beginning, as it is; add behind it."
        raise plugin.error(NotPermitted, "changed which tools a model was told of before", hint)
    behind = tuple(spec for name, spec in there.items() if name not in names)
    why = {name: str(reason) for name, reason in {**before.why, **after.why}.items() if name not in names}
    return evolve(before, tools=tuple(after.tools), behind=behind, why=why)
