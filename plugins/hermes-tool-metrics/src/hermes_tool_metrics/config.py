"""The settings of metrics."""

from hermes_core.options import ge, le, option, settings


@settings
class Config:
    """Figures for Prometheus."""

    host: str = option(
        "The address to listen on; others than 127.0.0.1 let every machine read that reaches it.",
        default="127.0.0.1",
        example="0.0.0.0",  # noqa: S104 - an example of the setting
    )
    port: int = option(
        "The port to listen on; 0 takes a free one, which the log names.",
        default=9464,
        validator=[ge(0), le(65535)],
        example=9465,
    )
