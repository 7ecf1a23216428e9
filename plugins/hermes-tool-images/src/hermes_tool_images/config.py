"""Settings of the plugin."""

from hermes_core import option, settings
from hermes_core.options import ge, le

__all__ = ["Config"]


@settings
class Config:
    """Pictures and videos."""

    draw_with: str = option(
        "The service that draws: fal, gemini or xai; empty: the model of auxiliary.draw.", default="", example="fal"
    )
    draw_model: str = option("The service's model that draws; empty: its usual one.", default="")
    film_with: str = option(
        "The service that makes videos: fal, gemini or xai; empty: there is no tool for it.", default="", example="xai"
    )
    film_model: str = option("The service's model that makes videos; empty: its usual one.", default="")
    service_url: str = option("Address of the service, where it is not its usual one.", default="")
    seconds: int = option("The longest that a video may take.", default=600, validator=[ge(1), le(3_000)])
