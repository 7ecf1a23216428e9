"""What Ollama says of a model: how much fits into it, and what it can do."""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from attrs import evolve

from hermes_core.types import JSON, Feature, Model
from hermes_core.values import frozen
from hermes_provider_kit.listing import fetch_json
from hermes_provider_kit.replies import read_capped

if TYPE_CHECKING:
    from hermes_provider_ollama.line import Line

__all__ = ["USUAL", "Shown", "list_models", "names_of", "post", "show"]

USUAL = 32_768  # tokens that are made room for where nobody says how many: each costs memory
SECONDS = 8.0
MOST = 64  # models that are asked about
_OWN_ROOM = re.compile(r"^num_ctx\s+(\d{2,8})\s*$", re.MULTILINE)


@frozen(kw_only=True)
class Shown:
    """``window`` is what the model was made for, ``own`` what its Modelfile makes room for; 0 where it does not say."""

    window: int = 0
    own: int = 0
    can: frozenset[str] = frozenset()

    def room(self, wanted: int = 0) -> int:
        """Say for how many tokens room is made: as the person, else its Modelfile says; else what is usual."""
        most = self.window or wanted or USUAL
        return min(wanted or self.own or USUAL, most) if self.window else wanted or self.own or USUAL


async def show(line: "Line", model: str) -> Shown:
    """Ask about a model, once. Raises ProviderError."""
    if model not in line.shown:
        line.shown[model] = _read(await post(line, "show", {"model": model}, model))
    return line.shown[model]


async def names_of(line: "Line") -> list[str]:
    """List the names of the models there. Raises ProviderError."""
    url = f"{line.service.url}/api/tags"
    found = await fetch_json(line.client(), url, headers=line.request_headers(), service=line.service, seconds=SECONDS)
    rows = found.get("models") if isinstance(found, dict) else None
    names = [row.get("name") for row in (rows if isinstance(rows, list) else []) if isinstance(row, dict)]
    return list(dict.fromkeys(name for name in names if isinstance(name, str) and name))


async def list_models(line: "Line") -> Sequence[Model]:
    """List the models there, with what is known of each. Raises ProviderError."""
    names = await names_of(line)
    told = await asyncio.gather(*(show(line, name) for name in names[:MOST]), return_exceptions=True)
    known = {name: one for name, one in zip(names, told, strict=False) if isinstance(one, Shown)}
    made = [_model(name, known.get(name, Shown()), line.context) for name in names]
    return [one for one in made if _converses(known.get(one.name, Shown()))]


def _model(name: str, shown: Shown, wanted: int) -> Model:
    features = {Feature.TOOLS: "tools", Feature.IMAGES: "vision", Feature.REASONING: "thinking"}
    can = frozenset(feature for feature, word in features.items() if word in shown.can)
    return evolve(Model(name=name, features=can), context=shown.room(wanted))


def _converses(shown: Shown) -> bool:
    """Tell whether a model answers conversations; an old Ollama does not say."""
    return not shown.can or "completion" in shown.can


def _read(found: JSON) -> Shown:
    if not isinstance(found, Mapping):
        return Shown()
    info, said, can = found.get("model_info"), found.get("parameters"), found.get("capabilities")
    figures = info.items() if isinstance(info, dict) else ()
    windows = [value for name, value in figures if name.endswith(".context_length")]
    window = next((one for one in windows if isinstance(one, int) and 0 < one < 10**9), 0)
    own = _OWN_ROOM.search(said) if isinstance(said, str) else None
    words = frozenset(one for one in can if isinstance(one, str)) if isinstance(can, list) else frozenset()
    return Shown(window=window, own=int(own[1]) if own else 0, can=words)


async def post(line: "Line", verb: str, body: Mapping[str, JSON], model: str) -> JSON:
    """Ask for one JSON document. Raises ProviderError."""
    from hermes_provider_kit.exchange import posted

    url = f"{line.service.url}/api/{verb}"
    async with posted(line, url, dict(body), model=model, headers=line.request_headers()) as pieces:
        text = await read_capped(pieces, 32 * 1024 * 1024)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        from hermes_provider_kit.failures import unreadable

        raise unreadable(text, service=line.service) from None
