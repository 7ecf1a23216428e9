"""``hermes api``."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import click

__all__ = ["build"]


def build() -> "click.Command":
    """The command."""
    import click

    @click.command("api")
    @click.option("--host", default=None, help="The address to listen on (platforms.api.host).")
    @click.option("--port", type=click.IntRange(0, 65535), default=None, help="The port (platforms.api.port).")
    @click.pass_obj
    def command(scope: Any, host: str | None, port: int | None) -> int:
        """Serve the OpenAI-compatible HTTP API until it is stopped.

        Every request needs the key in API_SERVER_KEY. Without one, a key is made, kept and shown once. On an address
        that other machines reach, the key is all that stands before your agent: put TLS in front of it.

        \b
        Examples:
          hermes api
          hermes api --port 9000
        """
        given = {"platforms.api.host": host, "platforms.api.port": port}
        return int(scope.serve("api", {name: value for name, value in given.items() if value is not None}))

    return command
