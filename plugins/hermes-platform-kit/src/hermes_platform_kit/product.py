"""Which product this is, for a first screen: a program on Hermes has a version of its own."""

__all__ = ["version_of"]


def version_of(program: str) -> str:
    """Return the version of the package that a command is of; empty where it is of none."""
    if program == "hermes":
        from hermes_core import __version__

        return __version__
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(program)
    except PackageNotFoundError:
        return ""
