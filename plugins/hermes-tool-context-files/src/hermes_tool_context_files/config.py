"""The settings of context files."""

from hermes_core.options import ge, option, settings


@settings
class Config:
    """The notes that a project keeps for agents."""

    enabled: bool = option("Read them.", default=True)
    max_chars: int = option(
        "The most characters of them in the prompt; 0: 6 % of the model's window, 20,000 to 500,000.",
        default=0,
        validator=ge(0),
    )
    hints: bool = option("Read those of folders below too, when a tool first works there.", default=True)
    scan: bool = option("Leave files out that try to take over the agent.", default=True)
