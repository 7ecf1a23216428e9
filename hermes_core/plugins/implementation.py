"""A plugin's function for a hook: whether it is what the hook asks for, and so is what it contributes.

pluggy gives marker, matching and validation; what pluggy lets pass (sync where async is due, keyword-only and star
arguments, wrappers) is refused here, before anything is registered, so that registering stays atomic.
"""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, get_args

import pluggy

from hermes_core import hooks
from hermes_core.context import PluginContext
from hermes_core.errors import ContractError, nearest
from hermes_core.plugins.index import Installed

# Where the table of a manifest is called otherwise than the hook; an empty one declares nothing.
_TABLES = {"cli_commands": "commands", "slash_commands": "slash", "checks": "", "migrations": ""}


def _given(hook: str) -> tuple[str, type]:
    """Find the table that declares the names of a hook, and what it must return: its specification says both."""
    name, (kind,) = hook.removeprefix("register_"), get_args(getattr(hooks, hook).__annotations__["return"])
    return _TABLES.get(name, name), kind


KINDS = {hook: _given(hook) for hook, mode in hooks.modes().items() if mode == "contribute"}


class Implementation:
    """One function of one plugin for one hook. ``given`` is what it contributed; None: it was not asked yet."""

    def __init__(self, installed: Installed, context: PluginContext, hook: str, function: Callable[..., Any]) -> None:
        self.installed, self.label, self.context = installed, installed.label, context
        self.hook, self.function = hook, function
        self.mode = hooks.mode_of(getattr(hooks, hook))
        self.wanted, self.odd = _arguments(function)
        self.order: tuple[Any, ...] = ()
        self.given: list[Any] | None = None
        self.suspended = False
        self.on_hang: Callable[[str], None] | None = None  # told when its contribution does not come; None: waited for

    def call(self, arguments: Mapping[str, Any]) -> Any:
        """Call the function with the arguments it wants."""
        known = {**arguments, "ctx": self.context}
        return self.function(**{name: known[name] for name in self.wanted})

    def ask(self) -> list[Any]:
        """Return what it contributes. Raises what it raises, ContractError or NotPermitted; then that is nothing."""
        if self.hook == "register_routers":  # it sees every request, and the keys
            self.installed.require("permissions", "kernel", "models.route", "stands between you and your models")
        answer = self.call({})
        if answer is None:
            raise self.installed.error(ContractError, f"{self.hook} returned nothing")
        things = list(answer)
        table, kind = KINDS[self.hook]
        names: list[str] = []
        for thing in things:
            if not isinstance(thing, kind):
                text = f"{self.hook} returned a {type(thing).__name__}, not a {kind.__name__}"
                raise self.installed.error(ContractError, text)
            name = getattr(thing, "name", "")
            if table and (not isinstance(name, str) or not name or name in names):
                text = f"{self.hook}: each {kind.__name__} needs a name of its own, got {name!r}"
                raise self.installed.error(ContractError, text)
            if table:
                self.installed.require("contributes", table, name, f"{self.hook} adds {name!r}")
            names.append(name)
        return things


def implementations(
    manager: pluggy.PluginManager, installed: Installed, module: Any, context: PluginContext, order: Sequence[str]
) -> Iterator[Implementation]:
    """Yield what a module, or an object, implements. Raises ContractError, NotPermitted, naming hook and signature."""
    known = hooks.modes()
    for name in dir(module):
        options = manager.parse_hookimpl_opts(module, name)
        if options is None:
            continue
        hook = options.get("specname") or name
        if hook not in known:
            if options.get("optionalhook"):
                continue
            close = nearest(hook, known)
            text = f"there is no hook {hook!r}" + (f"; did you mean {close!r}?" if close else "")
            raise installed.error(ContractError, text, "Is hermes-core older than it?")
        one = Implementation(installed, context, hook, getattr(module, name))
        if complaint := _complaint(one, options):
            raise installed.error(ContractError, f"{hook}: {complaint}", f"Write: {expected(hook)}")
        if one.mode != "contribute":
            installed.require("hooks", "use", hook, f"uses the hook {hook!r}")
        urge = -1 if options.get("tryfirst") else 1 if options.get("trylast") else 0
        # What the user listed comes first and as listed; authors' orders sort only the rest.
        place = next((order.index(n) for n in (one.label, one.label.rpartition("/")[2]) if n in order), None)
        one.order = (1, 0, urge, one.label) if place is None else (0, place, 0, one.label)
        yield one


def declared(installed: Installed) -> list[str]:
    """Return the hooks without which what a manifest declares never comes."""
    assert installed.manifest, f"{installed.label} has no manifest"
    tables = installed.manifest.contributes
    return [*installed.manifest.hooks, *(hook for hook, (table, _) in KINDS.items() if tables.get(table))]


def expected(hook: str) -> str:
    """Return the signature a hook asks for, as its author would write it."""
    spec = getattr(hooks, hook)
    plain = re.sub(r"[\w.]+\.(\w+)", r"\1", str(inspect.signature(spec)))
    return f"{'async ' if inspect.iscoroutinefunction(spec) else ''}def {hook}{plain}"


def _arguments(function: Any) -> tuple[list[str], list[str]]:
    """Return the names of a function's arguments, read off its code, and which are no plain named ones."""
    code = inspect.unwrap(function).__code__
    names, *stars = inspect.getargs(code)
    names = names[1:] if inspect.ismethod(function) else names
    return names, [*names[: code.co_posonlyargcount], *filter(None, stars)]


def _complaint(one: Implementation, options: Mapping[str, Any]) -> str:
    if options.get("wrapper") or options.get("hookwrapper"):
        return "generator wrappers are not used"
    if (options.get("tryfirst") or options.get("trylast")) and one.mode not in ("observe", "transform"):
        return f"tryfirst and trylast do not work for '{one.mode}' hooks; their order must not matter"
    if one.mode == "contribute":
        if inspect.iscoroutinefunction(one.function) or inspect.isasyncgenfunction(one.function):
            return "must be a plain 'def'"
    elif not inspect.iscoroutinefunction(one.function):
        return "must be an 'async def' that returns its answer"
    if one.odd:
        return f"the argument {one.odd[0]!r} must be a plain named one"
    known, _ = _arguments(getattr(hooks, one.hook))
    return next((f"there is no argument {name!r}" for name in one.wanted if name not in known), "")
