"""One endpoint of the catalogue: what is known about a service, read from its TOML file when it is first used."""

from collections.abc import Mapping
from pathlib import Path

from attrs import Factory

from hermes_core.types import JSON
from hermes_core.values import frozen
from hermes_provider_kit.catalogue import problems_of, read_row, tuples

__all__ = ["FOLDER", "Entry", "load_entry", "parse_entry"]

FOLDER = Path(__file__).with_name("catalogue")
_WORDS: Mapping[str, tuple[str, ...]] = {
    "protocol": ("chat", "responses"),
    "max_tokens_field": ("max_tokens", "max_completion_tokens"),
    "effort": ("", "reasoning_effort", "reasoning", "thinking"),
    "tool_images": ("user", "list", "none"),
    "call_ids": ("", "nine"),
}
_PRICES = {"input", "output", "cache_read", "cache_write"}
_REPLAYABLE = ("reasoning_content", "reasoning", "reasoning_details")


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
    ``call_ids = "nine"``: ids of tool calls must have nine letters or digits.
    """

    name: str
    title: str
    summary: str
    aliases: tuple[str, ...] = ()
    signup: str = ""
    priority: int = 20
    env: tuple[str, ...] = ()
    base_url: str = ""
    base_url_env: str = ""
    local: bool = False
    key_needed: bool = True
    protocol: str = "chat"
    default_model: str = ""
    models: tuple[str, ...] = ()
    contexts: Mapping[str, int] = Factory(dict)
    prices: Mapping[str, Mapping[str, float]] = Factory(dict)
    prices_from: str = ""
    media_models: Mapping[str, str] = Factory(dict)
    list_models: bool = True
    max_output: int = 0
    default_output: int = 0
    max_tokens_field: str = "max_tokens"
    temperature: str | float = ""
    reasoning_models: tuple[str, ...] = ()
    effort: str = ""
    efforts: tuple[str, ...] = ()
    replay: tuple[str, ...] = ()
    filler: bool = False
    tool_images: str = "user"
    call_ids: str = ""
    headers: Mapping[str, str] = Factory(dict)
    extra_body: Mapping[str, JSON] = Factory(dict)


def load_entry(name: str) -> Entry:
    """Read a service's file. Raises ValueError when the file is not as it should be."""
    return parse_entry(read_row(FOLDER, name), where=f"{name}.toml")


def parse_entry(data: Mapping[str, JSON], *, where: str) -> Entry:
    """Check a file's content against the fields above. Raises ValueError naming every problem."""
    problems = problems_of(Entry, data, ("name", "title", "summary"), _WORDS)
    problems += [f"replay knows no {field}" for field in data.get("replay", ()) if field not in _REPLAYABLE]
    if isinstance(data.get("temperature"), str) and data["temperature"] not in ("", "omit"):
        problems.append('temperature is "omit" or a number')
    problems += [
        f"the price of {name} is not one" for name, row in data.get("prices", {}).items() if not _is_price(row)
    ]
    if data.get("prices") and not data.get("prices_from"):
        problems.append("prices_from is missing")
    if problems:
        raise ValueError(f"{where}: {'; '.join(problems)}")
    return Entry(**tuples(data))


def _is_price(row: JSON) -> bool:
    if not isinstance(row, dict) or not {"input", "output"} <= row.keys() <= _PRICES:
        return False
    return all(isinstance(figure, int | float) and figure >= 0 for figure in row.values())
