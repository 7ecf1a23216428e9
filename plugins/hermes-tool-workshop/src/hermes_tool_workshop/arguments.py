"""Whether arguments fit a shape: a first look at examples, before they are tried."""

from collections.abc import Iterator, Mapping

from hermes_core.errors import nearest
from hermes_core.types import JSON
from hermes_tool_workshop.shape import Shape, fits


def misfit(shape: Shape, given: Mapping[str, JSON]) -> Iterator[str]:
    """What does not fit, a phrase each."""
    known = {one.name: one for one in shape.arguments}
    for name, value in given.items():
        if name not in known:
            close = nearest(name[:100], known)
            yield f"arguments: {shape.entry} takes no {name[:100]!r}" + (f"; did you mean {close}?" if close else "")
        elif not fits(known[name].kind, value):
            yield f"arguments.{name}: not of its type"
    for name, one in known.items():
        if one.required and name not in given:
            yield f"arguments: {name} is missing"
