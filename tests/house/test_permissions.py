"""Whatever a plugin is given says which permission it needs, and what stands behind it has the same signature."""

import asyncio
import inspect
from pathlib import Path

import pytest

from hermes_core import brokers, control, database, host, slash
from hermes_core.agent.approvals import BrokeredApprovals
from hermes_core.agent.host import _Records, _Turns
from hermes_core.agent.sessions import BrokeredSessions
from hermes_core.context import KERNEL_PERMISSIONS, PluginContext
from hermes_core.permissions import free, needed, needs
from hermes_core.store.store import open_store

MODULES = (brokers, control, database, host, slash)
GIVEN = {str(one.type).strip("'") if isinstance(one.type, str) else getattr(one.type, "__name__", "")
         for one in PluginContext.__attrs_attrs__}  # fmt: skip
BEHIND = {"HostTurns", "HostRecords"}  # which a broker has as an attribute
BROKERS = [thing for module in MODULES for name, thing in vars(module).items()
           if name in GIVEN | BEHIND and inspect.isclass(thing) and thing.__module__ == module.__name__]  # fmt: skip


FORWARDING = (BrokeredSessions, BrokeredApprovals, _Turns, _Records)


def unmarked(cls: type) -> list[str]:
    public = {name for name in {*vars(cls), *inspect.get_annotations(cls)} if not name.startswith("_")}
    return sorted(name for name in public if needed(cls, name) is None)


def test_all_brokers_are_looked_at() -> None:
    assert len(BROKERS) == len({name for name in GIVEN if name.endswith("Broker")}) + len(BEHIND) == 17


@pytest.mark.parametrize("cls", BROKERS, ids=lambda cls: str(cls.__name__))
def test_what_a_plugin_is_given_says_what_it_needs(cls: type) -> None:
    assert unmarked(cls) == []
    found = [need for name in {*vars(cls), *inspect.get_annotations(cls)} for need in needed(cls, name) or ()]
    assert {need.permission for need in found} <= set(KERNEL_PERMISSIONS)


def test_a_method_that_says_nothing_is_found() -> None:
    class Half:
        @needs("llm.call", "called")
        def marked(self) -> None: ...

        @free
        def anybody(self) -> None: ...

        def forgotten(self) -> None: ...

    class Whole(Half):
        other: int

        def marked(self) -> None: ...

    assert unmarked(Half) == ["forgotten"]
    assert unmarked(Whole) == ["other"], "what overrides a method is held to its mark"


async def test_what_the_store_does_itself_has_the_defaults_that_are_documented(tmp_path: Path) -> None:
    store, looked = await asyncio.to_thread(open_store, tmp_path / "other.db"), []
    try:
        for cls, name in ((one, name) for one in FORWARDING for name in vars(one) if not name.startswith("_")):
            made = vars(cls)[name]
            method = inspect.getclosurevars(made).nonlocals.get("method") if inspect.isfunction(made) else None
            if method is None:
                continue
            documented = next(vars(base)[name] for base in cls.__mro__[1:] if name in vars(base))
            ours, theirs = (inspect.signature(one).parameters for one in (method(store), documented))
            said = {one.name: one.default for one in theirs.values() if one.default is not one.empty}
            assert said == {known: ours[known].default for known in said}, f"{cls.__name__}.{name}"
            looked.append(name)
    finally:
        store.close()
    assert len(looked) > 20
