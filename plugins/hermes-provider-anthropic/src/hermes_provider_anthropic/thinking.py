"""How hard a model thinks, in the words of each generation of models."""

from collections.abc import Mapping, Sequence

from hermes_core.types import JSON
from hermes_provider_anthropic.entry import Card
from hermes_provider_anthropic.thoughts import THINKING

__all__ = ["thinking_fields"]

EFFORTS = ("minimal", "low", "medium", "high", "xhigh", "max")
BUDGETS = {"minimal": 1024, "low": 4096, "medium": 10_000, "high": 20_000, "xhigh": 32_000, "max": 48_000}
LEAST = 1024  # the smallest budget the protocol takes


def thinking_fields(card: Card, effort: str, limit: int, turns: Sequence[Mapping[str, JSON]]) -> dict[str, JSON]:
    """The fields that ask for thinking; empty when the service's own default is wanted."""
    if effort not in ("none", *EFFORTS):
        effort = ""
    if card.thinking == "budget":
        return _with_budget(effort, limit, turns)
    if card.thinking != "adaptive":
        return {}
    if effort == "none" and card.off:
        return {"thinking": {"type": card.off}}
    if effort == "none":
        effort = "low" if card.always else ""
    if not effort and not (card.always and card.display):
        return {}
    asked: dict[str, JSON] = {"type": "adaptive"}
    if card.display:
        asked["display"] = "summarized"
    made: dict[str, JSON] = {"thinking": asked}
    if effort and card.efforts:
        made["output_config"] = {"effort": _nearest(effort, card.efforts)}
    return made


def _nearest(effort: str, known: Sequence[str]) -> str:
    wanted = EFFORTS.index(effort)
    lower = [word for word in known if EFFORTS.index(word) <= wanted]
    return lower[-1] if lower else known[0]


def _with_budget(effort: str, limit: int, turns: Sequence[Mapping[str, JSON]]) -> dict[str, JSON]:
    budget = min(BUDGETS.get(effort, 0), limit // 2)  # the other half is for the answer
    if budget < LEAST or _goes_on_without_thought(turns):
        return {}
    return {"thinking": {"type": "enabled", "budget_tokens": budget}}


def _goes_on_without_thought(turns: Sequence[Mapping[str, JSON]]) -> bool:
    # These models refuse to think when the tool calls that are being answered did not begin with a thought, as
    # after a change of model in the middle of a turn.
    if len(turns) < 2 or turns[-1]["content"][0]["type"] != "tool_result":
        return False
    return turns[-2]["content"][0]["type"] not in THINKING
