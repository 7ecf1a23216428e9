"""What is asked to set Home Assistant up: its address and a token, tried before anything is kept."""

from collections.abc import Mapping

from hermes_core.errors import ToolError, UserError
from hermes_core.kinds import SetupField, SetupStep
from hermes_tool_homeassistant.client import TOKEN, Client, address

__all__ = ["Home"]


def _address(text: str) -> str:
    try:
        address(text)
    except ValueError as error:
        return f"{str(error)[0].upper()}{str(error)[1:]}."
    return ""


class Home(SetupStep):
    """The step ``homeassistant``."""

    name = "homeassistant"
    fields = (
        SetupField(
            "url", "Address of Home Assistant", "tools.homeassistant.url", default="http://homeassistant.local:8123",
            check=_address,
        ),
        SetupField("token", "Long-lived access token, from your profile there", TOKEN, secret=True),
    )  # fmt: skip

    async def test(self, values: Mapping[str, str]) -> str:
        """Log in there and count what it has. Raises UserError."""
        if problem := _address(values["url"]):
            raise UserError(problem)
        client = Client(values["url"], values["token"], 10.0)
        try:
            await client.open()
            states = await client.ask("get_states")
        except ToolError as error:
            raise UserError(error.text, hint=error.hint) from error
        finally:
            await client.close()
        return f"Home Assistant {client.version} answers; it has {len(states or ())} entities."
