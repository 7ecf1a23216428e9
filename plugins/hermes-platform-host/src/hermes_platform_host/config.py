"""The settings under ``host``."""

from hermes_core.options import ge, option, settings

__all__ = ["Config"]


@settings
class Config:
    """Terminals that use one host."""

    auto: bool = option(
        "Begin a host with the first command that could use one; it leaves when nobody used it for a while.",
        default=False,
    )
    idle_seconds: float = option("How long a host that began by itself stays unused.", default=900.0, validator=ge(1))
    connections: int = option(
        "How many terminals the host serves at once; others go on without it.", default=64, validator=ge(1)
    )
    shown: int = option("How many messages of the past `hermes attach` shows.", default=20, validator=ge(0))
