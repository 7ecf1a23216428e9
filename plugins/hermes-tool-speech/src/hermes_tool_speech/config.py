"""Settings of the plugin."""

from hermes_core import option, settings


@settings
class Config:
    """Voice notes and spoken answers."""

    write_down: bool = option("Write voice notes down before a model answers them.", default=True)
    language: str = option("The language of voice notes, such as en or ko; empty: the model finds out.", default="")
    voice: str = option("The voice to speak with; empty: the model's own.", default="")
