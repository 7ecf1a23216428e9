"""The settings under ``providers.moa``."""

from hermes_core.options import ge, gt, le, max_len, option, settings

__all__ = ["Config"]

MOST = 8  # references: what one question may cost has a bound


@settings
class Config:
    """A mixture of agents."""

    references: list[str] = option(
        "The models that are asked first, side by side, as PROVIDER:MODEL; eight at most.",
        factory=list,
        validator=max_len(MOST),
        example=["openrouter:deepseek/deepseek-chat", "gemini:gemini-flash-latest"],
    )
    aggregator: str = option(
        "The model that answers, with what the others said, and calls tools, as PROVIDER:MODEL.",
        default="",
        example="anthropic:claude-sonnet-5-5",
    )
    seconds: float = option("How long a reference may take before it is passed over.", default=120.0, validator=gt(0))
    letters: int = option(
        "How much of what a reference said the aggregator is shown.", default=12_000, validator=[ge(200), le(200_000)]
    )
