"""Where Ollama is."""

from typing import Any

from hermes_core.types import Endpoint
from hermes_provider_kit.line import ServiceLine, reached
from hermes_provider_kit.transport import check_address


class Service:
    """What is known of it without asking."""

    name, title, aliases, env, signup = "ollama-native", "Ollama", (), (), ""
    base_url = "http://127.0.0.1:11434"


def line_of(secrets: Any, said: Endpoint) -> ServiceLine:
    """The line to it, as the person set it."""
    url = check_address(said.name, said.base_url or Service.base_url, endings=("/api",), example=Service.base_url)
    return ServiceLine(**reached(Service(), said.name, secrets, said, url=url, local=True, usual_seconds=900))
