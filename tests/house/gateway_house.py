"""The gateway's context for tests that look behind its brokers: of a whole kernel, or of a store alone."""

from types import SimpleNamespace
from typing import Any, cast
from weakref import WeakKeyDictionary, ref

from hermes_core.agent.host import _Records, _Turns
from hermes_core.context import PluginContext
from hermes_core.embed import Hermes
from hermes_core.plugins.own_tables import PluginStore
from hermes_core.store.store import Store
from hermes_core.testing.bench import Bench
from hermes_platform_gateway.config import GatewaySettings
from hermes_platform_gateway.rows import kept

__all__ = ["context_of", "end_drafts", "rows_of", "unplayed"]

LABEL = "platform/gateway"
_contexts: "WeakKeyDictionary[Store, Any]" = WeakKeyDictionary()


def context_of(of: Hermes | Store) -> PluginContext:
    """What the gateway's plugin was given by a kernel in which it is installed; or the same of a store, and no more."""
    if isinstance(of, Store):
        if of not in _contexts:
            _contexts[of] = _alone(of)
        return cast("PluginContext", _contexts[of])
    if isinstance(of, Bench) and not any(one.label == LABEL for one in of._put_in):
        of.tmp_plugin("hermes_platform_gateway")
    runtime = of.runtime
    runtime.loader.load(runtime.index.resolve(LABEL), named=True)
    given = runtime.dispatch._hooks["contribute", "register_mailboxes"]
    return next(one.context for one in given if one.label == LABEL)


def _alone(store: Store) -> Any:
    there = ref(store)

    async def opened() -> Store:
        return cast("Store", there())

    installed: Any = SimpleNamespace(label=LABEL, require=lambda *_: None)
    runtime: Any = SimpleNamespace(store=opened)
    return SimpleNamespace(
        state={},
        config=GatewaySettings(),
        store=PluginStore(installed, str, opened, lambda _: [kept.MIGRATION]),
        host=SimpleNamespace(records=_Records(runtime), turns=_Turns(runtime), section=lambda _: {}),
    )


def rows_of(of: Hermes | Store) -> kept.Rows:
    """The rows of the gateway."""
    return kept.rows_of(context_of(of))


async def end_drafts(store: Store, *known: Any, **more: Any) -> int:
    """See the rows."""
    return await kept.end_drafts(context_of(store), *known, **more)


async def unplayed(of: Hermes | Store, **known: Any) -> Any:
    """See the rows."""
    return await kept.unplayed(context_of(of), **known)
