"""The public list of https://models.dev: one document, of which a file is kept for each service.

Its form, by https://models.dev: an object of services by name, each with ``models`` by name; of a model ``limit``
(``context``, ``output`` in tokens), ``cost`` (``input``, ``output``, ``cache_read``, ``cache_write`` in US dollars for
a million tokens), ``tool_call``, ``reasoning``, and ``modalities.input``. Nobody vouches for it: what it says is an
estimate, it names no address that is asked, and what does not fit its form is left out.
"""

import re
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from urllib.parse import urlsplit

from hermes_core.errors import UserError
from hermes_core.types import JSON, Feature, Model
from hermes_provider_kit.failures import Service
from hermes_provider_kit.kept import Offer, priced, write_offers
from hermes_provider_kit.listing import fetch_json
from hermes_provider_kit.transport import Connection, check_address

__all__ = ["bring", "read"]

_SECONDS = 30.0
_MOST = 1_000  # services that are kept, a file each; https://models.dev has a tenth of that
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")  # what becomes the name of a file


async def bring(url: str, folder: Path) -> int:
    """Ask for the list and keep it; how many models have a price. Raises ProviderError, UserError, OSError."""
    try:
        url = check_address("", url, endings=(), example="")
    except UserError:
        hint = "Such as https://models.dev/api.json."
        raise UserError("The setting catalogue.url is no address of the web.", hint=hint) from None
    connection = Connection(url, _SECONDS)
    service = Service(title=f"the public list {urlsplit(url).hostname}", url=url)
    try:
        found = await fetch_json(connection.client(), url, headers={}, service=service, seconds=_SECONDS)
    finally:
        await connection.close()
    lists = read(found)
    for name, offers in lists.items():
        write_offers(folder / f"{name}.json", offers)
    return sum(one.price is not None for offers in lists.values() for one in offers)


def read(found: JSON) -> dict[str, list[Offer]]:
    """Read what the list says of each service."""
    services = islice(found.items(), _MOST) if isinstance(found, Mapping) else ()
    made = {name: _offers(one) for name, one in services if isinstance(name, str) and _NAME.fullmatch(name)}
    return {name: offers for name, offers in made.items() if offers}


def _offers(service: JSON) -> list[Offer]:
    models = service.get("models") if isinstance(service, Mapping) else None
    rows = models.items() if isinstance(models, Mapping) else ()
    return [_offer(name, row) for name, row in rows if isinstance(row, Mapping) and name]


def _offer(name: str, row: Mapping[str, JSON]) -> Offer:
    limit, cost, ways = (_mapping(row.get(one)) for one in ("limit", "cost", "modalities"))
    inputs = ways.get("input")
    can = {
        Feature.TOOLS: row.get("tool_call") is True,
        Feature.REASONING: row.get("reasoning") is True,
        Feature.IMAGES: isinstance(inputs, list) and "image" in inputs,
    }
    features = frozenset(feature for feature, has in can.items() if has)
    model = Model(
        name=name, context=_count(limit.get("context")), output=_count(limit.get("output")), features=features
    )
    return Offer(model=model, price=priced(cost))


def _mapping(value: JSON) -> Mapping[str, JSON]:
    return value if isinstance(value, Mapping) else {}


def _count(value: JSON) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**9 else 0
