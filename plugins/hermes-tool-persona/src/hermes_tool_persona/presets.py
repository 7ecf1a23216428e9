"""The personalities that are there from the start. They change how something is said, never what is done."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from hermes_core.types import JSON
from hermes_core.values import frozen
from hermes_tool_persona.config import FIELDS, Config


@frozen(kw_only=True)
class Personality:
    """A manner of speaking: ``text`` is what a model is told, ``description`` what a person reads of it."""

    name: str
    description: str
    text: str


_KEEP = "This is about the words of your answers. What you do, code, files, commands, names and numbers stay exact."


def personalities(config: Config) -> dict[str, Personality]:
    """All of them by name; those of the person's own settings come before ours."""
    return {**_presets(), **{name: _own(name, one) for name, one in config.personalities.items()}}


def told(one: Personality) -> str:
    """What a model is told of a personality."""
    return f"{one.text}\n{_KEEP}"


@cache
def _presets() -> Mapping[str, Personality]:
    import tomllib  # not what every start pays for

    text = Path(__file__).with_name("presets.toml").read_text(encoding="utf-8")
    return {name: Personality(name=name, **one) for name, one in tomllib.loads(text).items()}


def _own(name: str, value: JSON) -> Personality:
    parts: dict[str, str] = dict.fromkeys(FIELDS, "") | ({"system_prompt": value} if isinstance(value, str) else value)
    lines = [parts["system_prompt"].strip()]
    lines += [f"{field.capitalize()}: {parts[field].strip()}" for field in ("tone", "style") if parts[field].strip()]
    text = "\n".join(filter(None, lines))
    first = text.split("\n", 1)[0]
    described = parts["description"].strip() or (first if len(first) <= 60 else f"{first[:59]}…")
    return Personality(name=name, description=" ".join(described.split()), text=text)
