"""What a plugin's module registers, looked at without a kernel."""

import inspect
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from hermes_core.plugins.implementation import KINDS
from hermes_core.plugins.manifest import RECORDS

if TYPE_CHECKING:
    from hermes_core.context import PluginContext
    from hermes_core.plugins.manifest import Manifest

__all__ = [
    "TABLES",
    "contributions",
    "declared_names",
    "hook_problems",
    "implementations",
    "migrations_of",
    "name_of",
    "plugin_of",
    "record_problems",
]

TABLES = {table: hook for hook, (table, _) in KINDS.items() if table}  # of the manifest, each with its hook


def plugin_of(words: str) -> Any:
    """What has a plugin's hooks, by the words of its entry point: a module, or ``module:object``."""
    from hermes_core.plugins.loader import import_object

    module, _, attribute = words.partition(":")
    return import_object(module, attribute)


def implementations(module: str) -> list[tuple[str, Any]]:
    """The hooks a plugin implements, each with its function."""
    found = plugin_of(module)
    marked = [(name, getattr(found, name)) for name in dir(found)]
    return [
        (f.hermes_impl.get("specname") or n, f) for n, f in marked if isinstance(getattr(f, "hermes_impl", 0), dict)
    ]


def migrations_of(module: str) -> list[Any]:
    """What it gives for its own tables."""
    hook = dict(implementations(module)).get("register_migrations")
    return [] if hook is None else list(hook(**dict.fromkeys(inspect.signature(hook).parameters)))


def contributions(module: str, context: "PluginContext") -> dict[str, list[Any]]:
    """What each register hook of a plugin gives, called as the kernel calls it: by the arguments it names."""
    given: dict[str, list[Any]] = {}
    hooks = dict(implementations(module))
    for table, hook in TABLES.items():
        if function := hooks.get(hook):
            arguments = {"ctx": context} if "ctx" in inspect.signature(function).parameters else {}
            given[table] = list(function(**arguments))
    return given


def declared_names(manifest: "Manifest", table: str) -> list[str]:
    """What the code must give: the names of a table without other names of a record, which the manifest alone says."""
    records = manifest.records(table).values() if table in RECORDS else ()
    aliases = {name for one in records for name in one.told.get("aliases", ())}
    return [name for name in manifest.contributes.get(table, ()) if name not in aliases]


def record_problems(manifest: "Manifest", table: str, things: Iterable[Any] | None = None) -> list[str]:
    """What is wrong with the records of a table; with ``things``, what its code gives, also what differs from that."""
    problems = [
        f'{name} has no table [{table}."{name}"] with a summary in the manifest'
        for name in declared_names(manifest, table)
        if not manifest.records(table)[name].told
    ]
    for one in things or ():
        told = manifest.records(table)[one.name].told if one.name in manifest.records(table) else {}
        if table == "slash" and told and (one.confirm is not None) is not told.get("confirm", False):
            asks = "asks before a loss" if one.confirm else "asks nothing before a loss"
            problems.append(f"/{one.name} {asks}, and its record says confirm = {str(not one.confirm).lower()}")
    return problems


def name_of(thing: Any, table: str) -> str:
    """What a contributed thing is called; in words, where it has no name."""
    return str(getattr(thing, "name", f"a {type(thing).__name__} without a name in {table}"))


def hook_problems(name: str, function: Any, declared: Iterable[str]) -> list[str]:
    """What is wrong with an implementation; ``declared`` are the hooks of the manifest."""
    from hermes_core import hooks

    spec = getattr(hooks, name, None)
    if spec is None or not hasattr(spec, "hermes_mode"):
        return [f"{name} is no hook of this kernel"]
    mode = hooks.mode_of(spec)
    wanted = inspect.signature(spec)
    problems = []
    stray = [p for p in inspect.signature(function).parameters if p not in wanted.parameters]
    if stray:
        problems.append(f"{name} asks for {', '.join(stray)}; the hook is {name}{wanted}")
    due = mode != "contribute"
    if inspect.iscoroutinefunction(function) is not due:
        problems.append(f"{name} is called to {mode}; write '{'async def' if due else 'def'} {name}(…)'")
    options = function.hermes_impl
    if options.get("wrapper") or options.get("hookwrapper"):
        problems.append(f"{name} is a wrapper; Hermes has none")
    if mode == "decide" and (options.get("tryfirst") or options.get("trylast")):
        problems.append(f"{name} is a gate; order must not matter, so tryfirst and trylast are refused")
    if due and name not in declared:
        problems.append(f"{name} is not declared; add it to hermes-plugin.toml: [hooks] use = [{name!r}]")
    return problems
