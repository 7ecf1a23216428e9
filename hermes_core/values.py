"""How classes of values are made: as attrs makes them, and quicker to import."""

from hermes_shapes.values import define, frozen

__all__ = ["define", "frozen"]
