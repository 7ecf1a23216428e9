"""The settings of what is shared, in the section ``shared``."""

from hermes_core.options import option, settings

__all__ = ["Config", "FolderSettings"]


@settings
class FolderSettings:
    """A folder of this machine that people have without an invitation."""

    folder: str = option("The folder.", default="", example="~/photos")
    people: list[str] = option("Who has it, by person.", factory=list, example=["anna", "tom"])
    write: bool = option("Whether they may change what is in it, too.", default=False)


@settings
class Config:
    """What is shared without an invitation."""

    folders: dict[str, FolderSettings] = option(
        "Folders that people have without an invitation, each under a name of its own.", factory=dict
    )
