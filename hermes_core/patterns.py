"""Regular expressions that are compiled when they are first used: most of them are not, in one run."""

from hermes_shapes.patterns import pattern

__all__ = ["pattern"]
