"""Name the layer in which a test failed: a plugin, a contract kit, a room of the kernel, or the test itself."""

import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path

from hermes_core.errors import PluginError
from hermes_core.values import frozen

__all__ = ["Layer", "layer_of"]

_KERNEL = Path(__file__).parents[1]


@frozen
class Layer:
    """Where a failure comes from: a ``name`` to sort by, and the line or the reason in words."""

    name: str
    where: str


def layer_of(error: BaseException, test: Path, fixtures: Iterable[str] = ()) -> Layer:
    """Tell where an error comes from.

    The plugin that the kernel blames, if it does; else the innermost frame of product code, by its plugin or its room
    in the kernel; else that the test itself asserted it, and what it drove.

    Args:
        error: What ended the test; causes and the members of groups are looked at too.
        test: The file of the test.
        fixtures: The names of what the test was given.
    """
    chain = list(_causes(error))
    for one in chain:
        if isinstance(one, PluginError):
            return Layer(f"plugin {one.plugin}", f"the kernel blames it: {type(one).__name__}")
    for one in reversed(chain):
        for frame, line in reversed(list(traceback.walk_tb(one.__traceback__))):
            path = Path(frame.f_code.co_filename)
            if name := _owner(path, test):
                return Layer(name, f"{type(one).__name__} in {frame.f_code.co_qualname}, {path.name}:{line}")
    return Layer(f"the test itself, of {_driven(test, set(fixtures))}", "it asserted something that does not hold")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error, then what it came from, outermost first."""
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        one = waiting.pop(0)
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        if isinstance(one, BaseExceptionGroup):
            waiting += one.exceptions
        if cause := one.__cause__ or (None if one.__suppress_context__ else one.__context__):
            waiting.append(cause)


def _owner(path: Path, test: Path) -> str:
    """The plugin or the room of a file of the product; nothing for tests and libraries."""
    if path == test or "tests" in path.parts:
        return ""
    if path.is_relative_to(_KERNEL):
        room = "/".join(path.relative_to(_KERNEL).parts[:-1])
        if room == "testing":
            return "contract kit" if path.stem.startswith("contract_") else ""
        return f"kernel {room or path.stem}"
    for package in path.parents:
        if (package / "hermes-plugin.toml").is_file():
            kind, _, name = package.name.removeprefix("hermes_").partition("_")
            return f"plugin {kind}/{name.replace('_', '-')}"
    return ""


def _driven(test: Path, fixtures: set[str]) -> str:
    if "contract" in test.stem:
        return "the contract kit"
    if "hermes" in fixtures:
        return "a whole kernel"
    if "cli" in fixtures:
        return "the command line"
    owner = next((p.name for p in test.parents if p.parent.name == "plugins"), "")
    return f"{owner} alone" if owner else "parts of the kernel"
