"""The settings of the queue."""

from hermes_core.options import ge, gt, option, settings


@settings
class Config:
    """How workers on several machines share turns. Where the server is says store.url."""

    heartbeat_seconds: float = option(
        "Seconds between two signs of life of a worker. One that gives none for four times as long is taken for dead, "
        "and what it played is handed to others. The same on all machines.",
        default=3.0,
        validator=gt(0),
        example=10.0,
    )
    connections: int = option(
        "Connections of one process to the server at most, beside one that listens and those of the store.",
        default=4,
        validator=ge(1),
        example=8,
    )
