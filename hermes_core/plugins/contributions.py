"""What plugins add: asked for once, held against the manifest, and one owner for each name."""

from collections.abc import Sequence
from typing import Any

from hermes_core.context import PluginContext
from hermes_core.errors import ContractError, NotPermitted
from hermes_core.kinds import Backend, Memory, Platform, Provider, Tool
from hermes_core.plugins.implementation import Implementation
from hermes_core.plugins.index import Installed, clash, overrides
from hermes_core.types import Check, Command, Fault, SlashCommand

# hook: the manifest table that declares its names, and what it must return
KINDS: dict[str, tuple[str, type]] = {
    "register_providers": ("providers", Provider),
    "register_tools": ("tools", Tool),
    "register_backends": ("backends", Backend),
    "register_platforms": ("platforms", Platform),
    "register_memories": ("memories", Memory),
    "register_cli_commands": ("commands", Command),
    "register_slash_commands": ("slash", SlashCommand),
    "register_checks": ("", Check),
}


class Contributions:
    """The things each plugin added, by hook."""

    def __init__(self) -> None:
        self._plugins: dict[str, tuple[Installed, PluginContext, bool]] = {}
        self._given: dict[str, dict[str, list[Any]]] = {hook: {} for hook in KINDS}
        self._joined: dict[str, list[tuple[str, Any]]] = {}
        self._clashed: set[tuple[str, str, str]] = set()

    def add(self, installed: Installed, context: PluginContext, *, builtin: bool) -> None:
        """A plugin that may be asked."""
        self._plugins[installed.label] = (installed, context, builtin)
        self._joined.clear()

    def asked(self, one: Implementation) -> bool:
        """Whether this plugin has answered, well or badly."""
        return one.label in self._given[one.hook]

    def ask(self, one: Implementation) -> None:
        """Ask a plugin, once. Raises what it raises, ContractError or NotPermitted; then it adds nothing."""
        given = self._given[one.hook]
        given[one.label] = []
        answer = one.call({"ctx": self._plugins[one.label][1]})
        if answer is None:
            raise ContractError(one.label, f"{one.hook} returned nothing", version=one.installed.version)
        things = list(answer)
        _check(one, things)
        given[one.label] = things

    def joined(self, hook: str, labels: Sequence[str]) -> tuple[list[tuple[str, Any]], list[Fault]]:
        """All things of a hook in the order of ``labels``, without those whose name another plugin owns."""
        clashes: list[Fault] = []
        if hook not in self._joined:
            owners = self._owners(hook, labels, clashes)
            self._joined[hook] = [
                (label, thing)
                for label in labels
                for thing in self._given[hook][label]
                if not owners or owners[thing.name] == label
            ]
        return list(self._joined[hook]), clashes

    def _owners(self, hook: str, labels: Sequence[str], clashes: list[Fault]) -> dict[str, str]:
        table = KINDS[hook][0]
        owners: dict[str, str] = {}
        if not table:
            return owners
        for label in sorted(labels, key=lambda label: self._precedence(label, table)):
            for thing in self._given[hook][label]:
                winner = owners.setdefault(thing.name, label)
                first, second = self._plugins[winner][0], self._plugins[label][0]
                if winner == label or (hook, thing.name, label) in self._clashed or overrides(first, table):
                    continue
                self._clashed.add((hook, thing.name, label))
                clashes.append(clash(table, thing.name, first, second))
        return owners

    def _precedence(self, label: str, table: str) -> tuple[bool, bool, bool, str]:
        # The same order as the index: what is ours first, then by distribution. Never by when it was loaded.
        installed, _, builtin = self._plugins[label]
        return (not overrides(installed, table), not builtin, not installed.distribution, installed.owner)


def _check(one: Implementation, things: Sequence[Any]) -> None:
    table, kind = KINDS[one.hook]
    names: set[str] = set()
    for thing in things:
        if not isinstance(thing, kind):
            text = f"{one.hook} returned a {type(thing).__name__}, not a {kind.__name__}"
            raise ContractError(one.label, text, version=one.installed.version)
        name = getattr(thing, "name", "")
        if not table:
            continue
        if not isinstance(name, str) or not name or name in names:
            text = f"{one.hook}: each {kind.__name__} needs a name of its own, got {name!r}"
            raise ContractError(one.label, text, version=one.installed.version)
        names.add(name)
        if one.installed.manifest is None or not one.installed.manifest.declares(table, name):
            hint = f'Add "{name}" to {table} under [contributes] in hermes-plugin.toml.'
            text = f"{one.hook} adds {name!r} without declaring it"
            raise NotPermitted(one.label, text, version=one.installed.version, hint=hint)
