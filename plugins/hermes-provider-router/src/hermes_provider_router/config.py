"""What the router reads of the section ``agent``: how often and how long a request is tried."""

from hermes_core.options import ge, option, settings


@settings
class Config:
    """How a request is tried."""

    model_tries: int = option("How often one request is sent to one model at most.", default=3, validator=ge(1))
    backoff_seconds: float = option("The longest first pause between tries; it doubles.", default=2.0, validator=ge(0))
    backoff_cap: float = option("The longest pause between tries.", default=60.0, validator=ge(0))
    longest_wait: float = option(
        "Seconds a provider may ask to wait; a longer wait is told, or another model asked.",
        default=600.0,
        validator=ge(0),
    )
