"""What is asked to set up a weather station: its address and a key, or a login; tested before anything is kept."""

# /// hermes
# api = 1
# name = "station"
# kind = "tool"
# summary = "Knows a weather station."
# [setup.station]
# summary = "A weather station; its key stands on the back."
# examples = ["hermes setup station"]
#
# [config]
# section = "tools.station"
# class = "station:Config"
#
# [permissions]
# secrets = ["STATION_KEY"]
# ///

from hermes_core import hookimpl, option, settings
from hermes_core.errors import UserError
from hermes_core.kinds import LoginPrompt, SetupField, SetupStep


@settings
class Config:
    """A weather station."""

    place: str = option("Where the station stands.", default="")
    units: str = option("What temperatures are told in.", default="celsius")


class Station(SetupStep):
    name = "station"
    login_label = "with the code on its display"
    fields = (
        SetupField("place", "Where it stands", "tools.station.place"),
        SetupField("units", "Units", "tools.station.units", default="celsius", choices=("celsius", "kelvin")),
        SetupField(
            "key", "Key", "STATION_KEY", secret=True, check=lambda text: "" if text.isdigit() else "Digits only."
        ),
    )

    async def login(self, show):
        """A real one would ask its service until the person has typed the code there."""
        code = await show(
            LoginPrompt("Read the display.", url="https://station.example/login", code="AB-12", paste=True)
        )
        return {"key": code}

    async def test(self, values):
        """A real one would ask the station."""
        if values["key"] != "12345":
            raise UserError("The station does not know this key.", hint="It stands on its back.")
        return f"The station in {values['place']} answers."


@hookimpl
def register_setup():
    return [Station()]
