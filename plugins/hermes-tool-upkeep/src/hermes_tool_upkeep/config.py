"""The settings of upkeep."""

from attrs import Factory

from hermes_core.options import ge, option, settings


@settings
class Config:
    """What is done with the store without being asked."""

    mend: bool = option("Make a damaged search index or other index anew by itself.", default=True)
    days: int = option("Delete sessions that were not used for so many days; 0 for never.", default=0, validator=ge(0))
    platforms: dict[str, int] = option(
        "Other days for sessions that came in one way.", default=Factory(dict), example={"telegram": 30}
    )
    megabytes: int = option(
        "Delete the sessions unused longest while the store is larger; 0 for no bound.", default=0, validator=ge(0)
    )
    outputs_days: int = option(
        "Delete long outputs that were kept beside a conversation after so many days; 0 for never.",
        default=30,
        validator=ge(0),
    )
    compact: bool = option("Give back the room of what was deleted, while nothing runs.", default=True)
