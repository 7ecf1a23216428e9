"""What is known about one service that speaks these protocols: a row of a catalogue."""

from collections.abc import Mapping
from typing import Any, Literal

from attrs import Factory, field
from attrs.validators import min_len

from hermes_core.types import JSON
from hermes_core.values import frozen
from hermes_provider_kit.catalogue import made_of

__all__ = ["Entry", "parse_entry"]

_PRICES = {"input", "output", "cache_read", "cache_write"}


def _is_temperature(_entry: Any, _field: Any, value: str | float) -> None:
    if isinstance(value, str) and value not in ("", "omit"):
        raise ValueError('must be "omit" or a number')


def _are_prices(_entry: Any, _field: Any, value: Mapping[str, Mapping[str, float]]) -> None:
    for model, row in value.items():
        if not {"input", "output"} <= row.keys() <= _PRICES or any(figure < 0 for figure in row.values()):
            raise ValueError(f"the price of {model} is not one")


def _is_told(entry: Any, _field: Any, value: str) -> None:
    if not value and entry.prices:
        raise ValueError("prices_from is missing")


@frozen(kw_only=True)
class Entry:
    """What is known about one service. Every field but the first three may be left out of the file.

    ``temperature``: ``omit`` never sends it, a number always sends that one. ``reasoning_models`` are prefixes of
    models that want the ``developer`` role and no temperature. ``replay`` names the reasoning fields it wants back;
    ``filler`` sends a blank one where it insists on the field and there is nothing to send.
    ``prices`` are US dollars for a million tokens (``input``, ``output``, ``cache_read``, ``cache_write``), and
    ``prices_from`` says where they were read and when.
    ``media_models`` are those for ``embed``, ``see``, ``draw``, ``speak`` and
    ``transcribe``, where none is named.
    ``schemas`` are prefixes of models that can be held to a schema, an empty one for all; what runs on a machine of
    one's own is not while it may call tools, as a grammar there lets it say nothing else.
    ``no_effort`` are prefixes of models that cannot be told how hard to think, ``cache_marks`` of those that keep
    nothing of a request unless it is marked: see ``marks``. ``wires`` says for prefixes of models which protocol they
    are asked by, ``responses``, or which other provider of Hermes has them.
    ``public`` is its name at https://models.dev.
    ``call_ids = "nine"``: ids of tool calls must have nine letters or digits.
    ``instructions``: in the Responses protocol the prompt goes beside the conversation. ``unset`` are fields of it that
    the service refuses.
    """

    name: str = field(validator=min_len(1))
    title: str = field(validator=min_len(1))
    summary: str = field(validator=min_len(1))
    aliases: tuple[str, ...] = ()
    signup: str = ""
    priority: int = 20
    env: tuple[str, ...] = ()
    base_url: str = ""
    base_url_env: str = ""
    local: bool = False
    key_needed: bool = True
    protocol: Literal["chat", "responses"] = "chat"
    default_model: str = ""
    models: tuple[str, ...] = ()
    public: str = ""
    contexts: Mapping[str, int] = Factory(dict)
    prices: Mapping[str, Mapping[str, float]] = field(factory=dict, validator=_are_prices)
    prices_from: str = field(default="", validator=_is_told)
    media_models: Mapping[str, str] = Factory(dict)
    list_models: bool = True
    max_output: int = 0
    default_output: int = 0
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: str | float = field(default="", validator=_is_temperature)
    reasoning_models: tuple[str, ...] = ()
    effort: Literal["", "reasoning_effort", "reasoning", "thinking", "enable_thinking"] = ""
    efforts: tuple[str, ...] = ()
    no_effort: tuple[str, ...] = ()
    cache_marks: tuple[str, ...] = ()
    wires: Mapping[str, str] = Factory(dict)
    schemas: tuple[str, ...] = ()
    replay: tuple[Literal["reasoning_content", "reasoning", "reasoning_details"], ...] = ()
    filler: bool = False
    tool_images: Literal["user", "list", "none"] = "user"
    call_ids: Literal["", "nine"] = ""
    instructions: bool = False
    unset: tuple[str, ...] = ()
    headers: Mapping[str, str] = Factory(dict)
    extra_body: Mapping[str, JSON] = Factory(dict)


def parse_entry(data: Mapping[str, JSON], *, where: str) -> Entry:
    """Check a file's content against the fields above. Raises ValueError naming every problem."""
    return made_of(data, Entry, where=where)
