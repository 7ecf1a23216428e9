"""What services offered when they were asked last: their models, and what those cost. It is kept in the home.

A file holds what one service said, or a public list says of it; a process reads the one it needs. To lose them costs
nothing but asking. Public lists are those of https://models.dev, which ``hermes-tool-catalogue`` brings.
"""

import contextlib
import json
import time
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from attrs import asdict, evolve

from hermes_core.context import PluginPaths
from hermes_core.types import JSON, Feature, Model, Price
from hermes_core.values import frozen

__all__ = ["Kept", "Lists", "Offer", "priced", "public_folder", "read_offers", "write_offers"]

_MOST = 16 * 1024 * 1024  # bytes of a file; a longer one is not ours
_FIGURES = ("input", "output", "cache_read", "cache_write")


@frozen(kw_only=True)
class Offer:
    """A model, and what it costs where that is known."""

    model: Model
    price: Price | None = None


def priced(figures: Mapping[str, JSON], *, scale: float = 1.0) -> Price | None:
    """Make a price of ``input``, ``output``, ``cache_read`` and ``cache_write``; None where it says none.

    Args:
        figures: US dollars, as numbers or as texts.
        scale: How many tokens they are for, in millions: 1e-6 where they are for one.

    Lists write zero for what a plan pays, or nobody knows. Who takes that for free is told of no cost that there is,
    so nothing is known by it.
    """
    found = {name: _amount(figures.get(name)) for name in _FIGURES}
    known = {name: round(one / scale, 6) for name, one in found.items() if one is not None}
    if not {"input", "output"} <= known.keys() or not (known["input"] or known["output"]):
        return None
    return Price(**known)


def _amount(value: JSON) -> float | None:
    with contextlib.suppress(ValueError, OverflowError):
        amount = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else -1.0
        return amount if 0 <= amount < 1e6 else None  # what is less than nothing is a mark, and no price
    return None


def public_folder(paths: PluginPaths) -> Path:
    """Say where the public lists are: one file for each service, by the name it has there."""
    return paths.home / "cache" / "models.dev"


def read_offers(file: Path) -> dict[str, Offer]:
    """Read what is kept, by the names of models; nothing where there is nothing that can be read."""
    with contextlib.suppress(OSError, ValueError, OverflowError, TypeError, KeyError, AttributeError, RecursionError):
        if file.stat().st_size <= _MOST:
            rows = json.loads(file.read_bytes())["models"]
            return {name: _offer(name, row) for name, row in rows.items()}
    return {}


def _offer(name: str, row: Mapping[str, Any]) -> Offer:
    features = frozenset(Feature(word) for word in row["features"])
    model = Model(name=name, context=int(row["context"]), output=int(row["output"]), features=features)
    return Offer(model=model, price=priced(row["price"]) if row.get("price") else None)


def write_offers(file: Path, offers: Iterable[Offer]) -> None:
    """Keep them, in place of what was there. Raises OSError."""
    from hermes_atomic.whole import replace

    rows = {one.model.name: _row(one) for one in offers}
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    replace(file, json.dumps({"read": time.time(), "models": rows}).encode(), sync=False)


def _row(offer: Offer) -> dict[str, Any]:
    model, price = offer.model, offer.price
    row = {"context": model.context, "output": model.output, "features": sorted(one.value for one in model.features)}
    return {**row, "price": {name: one for name, one in asdict(price).items() if one is not None} if price else None}


class Kept:
    """What is kept of one service: by itself, and by a public list where it has a place there."""

    def __init__(self, own: Path | None = None, public: Path | None = None) -> None:
        self._own, self._public = own, public
        self._read: dict[Path, tuple[int, dict[str, Offer]]] = {}

    def window(self, model: str) -> int:
        """Say how many tokens fit into a model; 0 where nobody said."""
        return next((one.model.context for one in self._of(model) if one.model.context), 0)

    def price(self, model: str) -> Price | None:
        """Say what a model costs; None where nobody said."""
        return next((one.price for one in self._of(model) if one.price), None)

    def models(self) -> list[Model]:
        """List the models that the service itself offered last."""
        return self.filled([one.model for one in self._file(self._own).values()])

    def filled(self, models: Sequence[Model]) -> list[Model]:
        """Add what the public list knows where the service did not say."""
        public = self._file(self._public)
        return [_filled(one, public[one.name].model) if one.name in public else one for one in models]

    def keep(self, offers: Sequence[Offer]) -> None:
        """Keep what the service offered now. What cannot be written is asked again."""
        if self._own and offers:
            with contextlib.suppress(OSError):
                write_offers(self._own, offers)

    def _of(self, model: str) -> list[Offer]:
        found = (self._file(file).get(model) for file in (self._own, self._public))
        return [one for one in found if one]

    def _file(self, file: Path | None) -> dict[str, Offer]:
        """Read a file again when it is another one: somebody else may have asked."""
        try:
            changed = file.stat().st_mtime_ns if file else 0
        except OSError:
            changed = 0
        if not file or not changed:
            return {}
        if self._read.get(file, (0, {}))[0] != changed:
            self._read[file] = changed, read_offers(file)
        return self._read[file][1]


def _filled(said: Model, known: Model) -> Model:
    figures: dict[str, Any] = {"context": said.context or known.context, "output": said.output or known.output}
    return evolve(said, features=said.features | known.features, **figures)


@frozen
class Lists:
    """Where lists are kept: those that services gave in the folder ``own``, public ones in ``public``."""

    own: Path
    public: Path

    @classmethod
    def of(cls, paths: PluginPaths) -> "Lists":
        """Make it of the folders of a plugin."""
        return cls(paths.cache / "models", public_folder(paths))

    def kept(self, name: str, url: str, public: str = "") -> Kept:
        """Give what is kept of the service at an address; ``public`` is its name in public lists."""
        mark = sha256(url.encode()).hexdigest()[:12]
        safe = "".join(sign for sign in name if sign.isalnum() or sign in "-_")[:60]
        return Kept(self.own / f"{safe}-{mark}.json", self.public / f"{public}.json" if public else None)
