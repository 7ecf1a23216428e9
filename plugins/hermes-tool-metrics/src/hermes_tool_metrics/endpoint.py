"""The HTTP endpoint, in a thread of its own that ends with the process: a busy agent can still be looked at."""

import logging

from prometheus_client import start_http_server

from hermes_core.values import frozen
from hermes_tool_metrics.config import Config
from hermes_tool_metrics.measures import Measures

__all__ = ["Endpoint", "open_endpoint"]


@frozen(eq=False)
class Endpoint:
    """An open endpoint and what it shows."""

    measures: Measures
    port: int


def open_endpoint(config: Config, log: logging.Logger) -> Endpoint | None:
    """Listen from now on; None, said in the log, when that cannot be."""
    measures = Measures()
    try:
        server, _ = start_http_server(config.port, config.host, registry=measures.registry)
    except (OSError, OverflowError) as error:
        log.warning(
            "metrics are off: nothing can listen on %s:%d (%s). Set tools.metrics.port to a free port.",
            config.host, config.port, error,
        )  # fmt: skip
        return None
    port = server.server_port
    log.info("metrics are at http://%s:%d/metrics", config.host, port)
    return Endpoint(measures, port)
