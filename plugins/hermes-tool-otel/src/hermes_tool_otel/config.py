"""The settings of traces."""

from hermes_core.options import Secret, ge, gt, le, option, settings


@settings
class Config:
    """OpenTelemetry traces."""

    endpoint: str = option(
        "Where the collector takes traces over HTTP; empty: what OTEL_EXPORTER_OTLP_ENDPOINT says, else this machine.",
        default="",
        example="http://127.0.0.1:4318/v1/traces",
    )
    authorization: Secret = option(
        "The Authorization header of the collector, or env:NAME.", default=Secret(""), example="env:OTEL_AUTHORIZATION"
    )
    service: str = option("The name of the service in the traces.", default="hermes", example="hermes-home")
    sample: float = option("The part of all turns that is sent: 1 is all.", default=1.0, validator=[ge(0), le(1)])
    capture_content: bool = option("Send what was said, and tools' arguments and results, too.", default=False)
    queue: int = option(
        "Spans kept while the collector does not answer; more are dropped.", default=2048, validator=gt(0)
    )
    seconds: float = option("How long one export may take.", default=5.0, validator=gt(0))
