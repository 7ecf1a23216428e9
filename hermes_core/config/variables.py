"""Variables in the texts of settings: ``${NAME}`` is what the environment or ``.env`` says."""

import re

from hermes_core.config.secrets import Secrets
from hermes_core.types.base import JSON
from hermes_shapes.build import Keys, Problem

_VARIABLE = r"\$(\$?)\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}"


def expanded(value: JSON, keys: Keys, secrets: Secrets, unset: list[Problem]) -> JSON:
    """Fill in ``${NAME}`` and ``${NAME:-else}`` in texts; ``$${NAME}`` stays ``${NAME}``."""

    def fill(match: re.Match[str]) -> str:
        if match[1]:
            return match[0][1:]
        filled = secrets.get(match[2]) or match[3]
        if filled is None:
            unset.append(Problem(keys, f"${{{match[2]}}} is not set, neither in the environment nor in .env"))
        return filled or ""

    if isinstance(value, str):
        return re.sub(_VARIABLE, fill, value) if "${" in value else value
    if isinstance(value, dict):
        return {key: expanded(item, (*keys, key), secrets, unset) for key, item in value.items()}
    if isinstance(value, list):
        return [expanded(item, (*keys, index), secrets, unset) for index, item in enumerate(value)]
    return value
