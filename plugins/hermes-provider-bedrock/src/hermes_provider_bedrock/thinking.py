"""How hard a model thinks, in the words of its maker, as fields that the service hands on to the model.

Sources: "Extended thinking" and "Adaptive thinking" of Anthropic's documentation, "Extended thinking" of that of Nova,
"Reasoning" of OpenAI's.
"""

from hermes_core.types import JSON
from hermes_provider_bedrock.known import claude, plain

__all__ = ["thinking_fields"]

EFFORTS = ("minimal", "low", "medium", "high", "xhigh", "max")
BUDGETS = {"minimal": 1024, "low": 4096, "medium": 10_000, "high": 20_000, "xhigh": 24_000, "max": 24_000}
LEAST = 1024  # the smallest budget that a Claude takes
THREE = {"minimal": "low", "low": "low", "medium": "medium", "high": "high", "xhigh": "high", "max": "high"}


def thinking_fields(model: str, effort: str, limit: int) -> dict[str, JSON]:
    """Give the fields that ask a model to think; empty when its own default is wanted, or it cannot be asked.

    Args:
        model: Its name.
        effort: ``none``, or one of EFFORTS; any other is as if nothing was said.
        limit: Tokens that the reply may have; 0 when that is not said.
    """
    version, name = claude(model), plain(model)
    if version >= (4, 6):
        return _adaptive(version, effort)
    if version >= (3, 7):
        budget = BUDGETS.get(effort, 0)
        budget = min(budget, limit // 2) if limit else budget  # the other half is for the answer
        return {"thinking": {"type": "enabled", "budget_tokens": budget}} if budget >= LEAST else {}
    if name.startswith("amazon.nova-2-") and effort in THREE:
        return {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": THREE[effort]}}
    if name.startswith("openai.gpt-oss") and effort in THREE:
        return {"reasoning_effort": THREE[effort]}
    if name.startswith("openai.") and effort in THREE:
        return {"reasoning": {"effort": THREE[effort]}}
    return {}


def _adaptive(version: tuple[int, int], effort: str) -> dict[str, JSON]:
    if effort == "none":
        effort = "low" if version >= (5, 0) else ""  # those think unasked
    if effort not in EFFORTS:
        return {}
    if effort == "minimal" or (effort == "xhigh" and version < (4, 7)):
        effort = "low" if effort == "minimal" else "high"
    thinking: dict[str, JSON] = {"type": "adaptive"}
    if version >= (4, 7):  # those show what they thought only when they are asked to
        thinking["display"] = "summarized"
    return {"thinking": thinking, "output_config": {"effort": effort}}
