"""One round: every service that is set up is asked for its models, then a public list."""

import contextlib
import json
import time
from collections.abc import Callable
from pathlib import Path

from hermes_core.context import PluginContext
from hermes_core.errors import HermesError
from hermes_core.values import frozen
from hermes_tool_catalogue.config import Config

__all__ = ["Round", "last", "refresh"]

_FILE = "round.json"


@frozen(kw_only=True)
class Round:
    """What a round came to: ``when`` in seconds of the clock, 0 for none yet; ``wrong`` has a line for each failure."""

    when: float = 0.0
    services: int = 0
    models: int = 0
    prices: int = 0
    wrong: tuple[str, ...] = ()

    @property
    def told(self) -> str:
        """What a person reads of it."""
        if not self.when:
            return "the lists of models were not asked for yet"
        said = f"{self.models:,} models of {self.services} services, {self.prices:,} prices of the public list"
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(self.when))
        return f"{said}, {when}{''.join(f'; {one}' for one in self.wrong)}"


async def refresh(ctx: PluginContext, tell: Callable[[str], None] = lambda _: None, *, public: bool) -> Round:
    """Ask all of them, one after another; ``tell`` hears a line for each. What fails costs its own list only.

    Each service's own provider keeps what it said, so nothing is kept here but that there was a round.
    """
    config = ctx.config or Config()
    services, models, wrong = 0, 0, []
    for row in await ctx.models.providers():
        if not row.ready or row.kind != "hosted":
            continue
        try:
            found = await ctx.models.list(row.name)
        except HermesError as error:
            wrong.append(f"{row.name}: {error.text}")
            tell(wrong[-1])
            continue
        services, models = services + 1, models + len(found)
        tell(f"{row.name}: {len(found):,} models")
    prices = await _public(ctx, config, wrong, tell) if public else 0
    made = Round(when=time.time(), services=services, models=models, prices=prices, wrong=tuple(wrong))
    _keep(ctx.paths.cache / _FILE, made)
    return made


async def _public(ctx: PluginContext, config: Config, wrong: list[str], tell: Callable[[str], None]) -> int:
    from hermes_provider_kit.kept import public_folder
    from hermes_tool_catalogue.public import bring

    try:
        prices = await bring(config.url, public_folder(ctx.paths))
    except (HermesError, OSError) as error:
        wrong.append(error.text if isinstance(error, HermesError) else f"The public list could not be kept: {error}")
        tell(wrong[-1])
        return 0
    tell(f"public list: {prices:,} prices")
    return prices


def last(ctx: PluginContext) -> Round:
    """Say what the last round came to, in whichever process it was."""
    with contextlib.suppress(OSError, ValueError, OverflowError, TypeError, KeyError, RecursionError):
        row = json.loads((ctx.paths.cache / _FILE).read_bytes())
        figures = {name: int(row[name]) for name in ("services", "models", "prices")}
        return Round(when=float(row["when"]), wrong=tuple(map(str, row["wrong"])), **figures)
    return Round()


def _keep(file: Path, made: Round) -> None:
    from attrs import asdict

    from hermes_atomic.whole import replace

    with contextlib.suppress(OSError):  # then there is one more round than was needed
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace(file, json.dumps(asdict(made)).encode(), sync=False)
