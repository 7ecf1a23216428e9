"""Whose name a distribution carries: our own, somebody else's, or one that is made to be taken for ours."""

import re
from contextlib import suppress
from functools import cache

from hermes_core.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.metadata import PackageMetadata

__all__ = ["installed_own", "own_names", "refuse_imitation", "refuse_kernel", "refuse_stranger"]

_CORE = "hermes-core"
_SIGNS = ("Author", "Project-URL")


@cache
def own_names() -> frozenset[str]:
    """The distributions that come with this one: itself, and what its extras bring of ours."""
    from importlib.metadata import requires

    found = (re.match(r"[\w.-]+", need) for need in requires(_CORE) or ())
    return frozenset({_CORE, *(one[0] for one in found if one and one[0].startswith("hermes-"))})


def installed_own() -> dict[str, str]:
    """Those of ``own_names`` that stand in this Python, with their versions."""
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for name in sorted(own_names()):
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def refuse_kernel(name: str) -> None:
    """Raises UserError for the name of Hermes itself: on an index of everybody's it may be somebody else's."""
    if name == _CORE:
        raise UserError(
            f"{name} is Hermes itself, and no plugin. It was not installed.", hint="To renew it: hermes update"
        )


def refuse_imitation(name: str) -> None:
    """Raises UserError for a name that is one slip of the finger away from one of ours."""
    if name in own_names():
        return
    for ours in sorted(own_names()):
        if _alike(name, ours):
            text = f"{name} can be taken for {ours}, and is not ours. It was not installed."
            raise UserError(text, hint=f"hermes plugins install {ours}   or, if you do mean the other one, pip.")


def refuse_stranger(name: str, version: str, fields: "PackageMetadata") -> None:
    """Raises UserError when a distribution with one of our names does not say that it is from us.

    ``fields`` is its metadata. Anybody can copy them; whoever took a name by chance or in haste has not.
    """
    from importlib.metadata import metadata

    if name not in own_names():
        return
    ours = metadata(_CORE)
    if any(set(ours.get_all(field) or ()) - set(fields.get_all(field) or ()) for field in _SIGNS):
        told = fields["Author"] or fields["Author-email"] or "not told"
        text = f"{name} {version} carries the name of a plugin of ours, and its author is {told[:80]!a}."
        raise UserError(
            f"{text} It was not installed.",
            hint="Somebody else has that name on this index: hermes config get platforms.cli.index",
        )


def _alike(name: str, ours: str) -> bool:
    if _folded(name) == _folded(ours):
        return True
    plain, known = name.replace("-", ""), ours.replace("-", "")
    return plain == known or sorted(name.split("-")) == sorted(ours.split("-")) or _one_slip(plain, known)


def _folded(name: str) -> str:
    for odd, even in (("rn", "m"), ("vv", "w"), ("0", "o"), ("1", "l"), ("i", "l"), ("3", "e"), ("5", "s")):
        name = name.replace(odd, even)
    return name


def _one_slip(a: str, b: str) -> bool:
    """One letter more, less, other, or two that changed places."""
    if len(a) == len(b):
        off = [i for i, (x, y) in enumerate(zip(a, b, strict=True)) if x != y]
        swapped = len(off) == 2 and off[1] == off[0] + 1 and a[off[0]] == b[off[1]] and a[off[1]] == b[off[0]]
        return len(off) == 1 or swapped
    short, long = sorted((a, b), key=len)
    at = next((i for i, (x, y) in enumerate(zip(short, long, strict=False)) if x != y), len(short))
    return short[at:] == long[at + 1 :]
