"""The settings of the catalogue."""

from hermes_core.options import gt, option, settings


@settings
class Config:
    """How lists of models are kept fresh."""

    days: float = option("After how many days lists are asked for again.", default=1.0, validator=gt(0))
    public: bool = option("Ask a public list too without a word, for what services do not say.", default=False)
    url: str = option(
        "Where the public list is, in the form of models.dev.",
        default="https://models.dev/api.json",
        example="https://mirror.example.org/models.json",
    )
