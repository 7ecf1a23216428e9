"""``hermes metrics``: what the running gateway counted, as Prometheus would read it."""

import http.client

import click

from hermes_core.errors import HermesError, UserError
from hermes_tool_metrics.config import Config

__all__ = ["make_metrics"]

_ANYWHERE = ("", "0.0.0.0", "::")  # noqa: S104 - compared with, not listened on


def make_metrics(config: Config) -> click.Command:
    """The command."""

    @click.command("metrics")
    @click.option("--port", default=config.port, show_default=True, help="The port of the gateway's endpoint.")
    def metrics(port: int) -> None:
        """Print what the running gateway counted, as Prometheus reads it."""
        host = "127.0.0.1" if config.host in _ANYWHERE else config.host
        try:
            connection = http.client.HTTPConnection(host, port, timeout=5)
            connection.request("GET", "/metrics")
            answer = connection.getresponse()
            text = answer.read().decode("utf-8", "replace")
        except (OSError, http.client.HTTPException) as error:
            raise UserError(
                f"Nobody counts at {host}:{port}: {error}.",
                hint="Is the gateway running, and the plugin enabled? `hermes gateway status`, `hermes plugins list`",
            ) from error
        if answer.status != http.client.OK or "hermes_" not in text:
            raise HermesError(f"Something else answers at {host}:{port}.", hint="Set tools.metrics.port.")
        click.echo(text, nl=False)

    return metrics
