"""A plugin's function for a hook, and whether it is what the hook asks for.

pluggy gives marker, matching and validation; what pluggy lets pass (sync where async is due, keyword-only and star
arguments, wrappers) is refused here, before anything is registered, so that registering stays atomic.
"""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

import pluggy

from hermes_core.errors import ContractError, NotPermitted, nearest
from hermes_core.hooks import Mode, mode_of
from hermes_core.plugins.index import Installed

Specs = Mapping[str, Callable[..., Any]]


class Implementation:
    """One function of one plugin for one hook."""

    __slots__ = ("function", "hook", "installed", "label", "mode", "order", "suspended", "wanted")

    def __init__(
        self, installed: Installed, hook: str, mode: Mode, function: Callable[..., Any], *, order: tuple[Any, ...]
    ) -> None:
        self.installed, self.label, self.hook, self.mode = installed, installed.label, hook, mode
        self.function, self.order, self.suspended = function, order, False
        self.wanted = tuple(inspect.signature(function).parameters)

    def call(self, arguments: Mapping[str, Any]) -> Any:
        """Call the function with the arguments it wants."""
        return self.function(**{name: arguments[name] for name in self.wanted})


def implementations(
    manager: pluggy.PluginManager, specs: Specs, installed: Installed, module: ModuleType, order: Sequence[str]
) -> Iterator[Implementation]:
    """What a module implements. Raises ContractError or NotPermitted, naming hook and expected signature."""
    for name in dir(module):
        options = manager.parse_hookimpl_opts(module, name)
        if options is None:
            continue
        hook = options.get("specname") or name
        if hook not in specs:
            if options.get("optionalhook"):
                continue
            close = nearest(hook, specs)
            text = f"there is no hook {hook!r}" + (f"; did you mean {close!r}?" if close else "")
            raise ContractError(installed.label, text, version=installed.version, hint="Is hermes-core older than it?")
        spec, function = specs[hook], getattr(module, name)
        complaint = _complaint(mode_of(spec), options, spec, function)
        if complaint:
            text = f"{hook}: {complaint}"
            raise ContractError(installed.label, text, version=installed.version, hint=f"Write: {expected(spec)}")
        _check_declared(installed, hook, mode_of(spec))
        place = _order(installed.label, order, -1 if options.get("tryfirst") else 1 if options.get("trylast") else 0)
        yield Implementation(installed, hook, mode_of(spec), function, order=place)


def expected(spec: Callable[..., Any]) -> str:
    """The signature a hook asks for, as its author would write it."""
    plain = re.sub(r"[\w.]+\.(\w+)", r"\1", str(inspect.signature(spec)))
    return f"{'async ' if inspect.iscoroutinefunction(spec) else ''}def {spec.__name__}{plain}"


def _complaint(mode: Mode, options: Mapping[str, Any], spec: Callable[..., Any], function: Callable[..., Any]) -> str:
    if options.get("wrapper") or options.get("hookwrapper"):
        return "generator wrappers are not used"
    if (options.get("tryfirst") or options.get("trylast")) and mode not in ("observe", "transform"):
        return f"tryfirst and trylast do not work for '{mode}' hooks; their order must not matter"
    if mode == "contribute":
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            return "must be a plain 'def'"
    elif not inspect.iscoroutinefunction(function):
        return "must be an 'async def' that returns its answer"
    known = inspect.signature(spec).parameters
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            return f"the argument {name!r} must be a plain named one"
        if name not in known:
            return f"there is no argument {name!r}"
    return ""


def _check_declared(installed: Installed, hook: str, mode: Mode) -> None:
    if mode == "contribute" or (installed.manifest and hook in installed.manifest.hooks):
        return
    hint = f'Add "{hook}" to [hooks] use in hermes-plugin.toml.'
    raise NotPermitted(
        installed.label, f"uses the hook {hook!r} without declaring it", version=installed.version, hint=hint
    )


def _order(label: str, order: Sequence[str], urge: int) -> tuple[Any, ...]:
    # What the user listed comes first and as listed; authors' wishes sort only the rest.
    for name in (label, label.rpartition("/")[2]):
        if name in order:
            return (0, order.index(name), 0, label)
    return (1, 0, urge, label)
