"""How hard a model thinks, in the words of its generation.

Models of the third generation and later take a level, those of 2.5 a budget of tokens; earlier ones do not think.
Source: the page "Gemini thinking" of Google's documentation of the API.
"""

import re

from hermes_core.types import JSON

__all__ = ["generation", "thinking_config"]

BUDGETS = {"none": 0, "minimal": 512, "low": 4096, "medium": 10_000, "high": 20_000, "xhigh": 24_576, "max": 24_576}
LEAST_OF_PRO = 128  # it cannot stop thinking
LEVELS = {
    "none": "minimal",
    "minimal": "minimal",
    "low": "low",
    "medium": "medium",
    "high": "high",
    "xhigh": "high",
    "max": "high",
}
LEVELS_OF_PRO = {"minimal": "low", "medium": "low"}  # what each of them understands: the nearest that is not more
_GENERATION = re.compile(r"gemini-(\d+)(?:\.(\d+))?")


def generation(model: str) -> tuple[int, int]:
    """Tell of which generation a model is, as (3, 1); (0, 0) for one of another family.

    The names that Google keeps for the newest of a kind, as ``gemini-flash-latest``, count as the third.
    """
    if found := _GENERATION.match(model):
        return int(found[1]), int(found[2] or 0)
    return (3, 0) if model.startswith("gemini-") and model.endswith("-latest") else (0, 0)


def thinking_config(model: str, effort: str) -> dict[str, JSON]:
    """Give the field ``thinkingConfig``, empty for a model that does not think; without an effort the model chooses."""
    of = generation(model)
    if of < (2, 5) or "image" in model or "embedding" in model:
        return {}
    made: dict[str, JSON] = {"includeThoughts": True}
    if effort in LEVELS and of >= (3, 0):
        level = LEVELS[effort]
        made["thinkingLevel"] = LEVELS_OF_PRO.get(level, level) if "-pro" in model else level
    elif effort in BUDGETS:
        made["thinkingBudget"] = max(BUDGETS[effort], LEAST_OF_PRO) if "-pro" in model else BUDGETS[effort]
    if made.get("thinkingBudget") == 0:
        del made["includeThoughts"]
    return made
