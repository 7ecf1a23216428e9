"""The settings of the processes in the background."""

from hermes_core.options import ge, option, settings


@settings
class Config:
    """Commands that run in the background."""

    turns_per_hour: int = option(
        "Turns that processes of a conversation may begin by themselves within an hour, as one ended or said what it is"
        " watched for; with 0 none does, and the next turn is told.",
        default=12,
        validator=ge(0),
    )
