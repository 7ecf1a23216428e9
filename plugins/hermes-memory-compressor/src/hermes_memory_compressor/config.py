"""The settings under ``memories.compressor``, and what they come to for one model."""

from hermes_core.options import ge, le, option, settings
from hermes_core.values import frozen

MOST_KEPT = 20_000  # tokens of the person's own words
LARGE = 512_000  # tokens; smaller windows are filled further before anything is compacted


@settings
class Config:
    """When a conversation is compacted, and what stays as it is."""

    enabled: bool = option(
        "Whether conversations are compacted by themselves; `/compress` works either way.", default=True
    )
    threshold: float = option(
        "Share of the window, less the room for the reply, at which a conversation is compacted; 0 takes 0.75 for "
        "windows under 512,000 tokens and 0.5 for larger ones.",
        default=0.0,
        validator=[ge(0.0), le(0.95)],
        example=0.6,
    )
    least_tokens: int = option(
        "No conversation shorter than this is compacted; when the window is not larger, 85 % of the window counts.",
        default=64_000,
        validator=ge(0),
        example=32_000,
    )
    window: int = option(
        "Tokens that fit into a model which does not say how many.",
        default=128_000,
        validator=ge(1_000),
        example=32_768,
    )
    protect_first: int = option(
        "Messages at the start that stay, after the system prompt.", default=3, validator=ge(0), example=1
    )
    protect_last: int = option(
        "Messages at the end that stay where there is room, 3 at least and 8 at most; what is more is decided by "
        "tokens, see `target_ratio`.",
        default=20,
        validator=ge(0),
        example=5,
    )
    target_ratio: float = option(
        "Share of the threshold that the end of the conversation may fill as it is.",
        default=0.2,
        validator=[ge(0.1), le(0.8)],
        example=0.3,
    )
    keep_ratio: float = option(
        "Share of the threshold that may hold, word for word, what the person said in messages that are summarised; "
        "half as much more holds names, numbers, files and open questions that a summary left out.",
        default=0.1,
        validator=[ge(0.0), le(0.5)],
        example=0.05,
    )
    keep_results: list[str] = option(
        "Tools whose last result is kept word for word, such as the plan of `todo`.",
        factory=lambda: ["todo"],
        example=["todo", "board"],
    )
    summary_seconds: float = option(
        "How long the model may take for a summary, in seconds, a second try included.",
        default=300.0,
        validator=[ge(0.01), le(320.0)],
        example=120.0,
    )
    cool_down_seconds: float = option(
        "How long no summary is asked for after one failed, in seconds; a tenth of it where the conversation would "
        "otherwise not fit. `/compress` does not wait.",
        default=600.0,
        validator=ge(0.0),
        example=60.0,
    )
    static_handoff: bool = option(
        "Whether a list of what was done stands in for a summary that failed, when the conversation would otherwise "
        "not fit into the model.",
        default=True,
    )


@frozen(kw_only=True)
class Limits:
    """What holds for one model, in tokens: where compaction begins, and how much of the end stays as it is.

    ``kept`` is the room for what is kept word for word of what does not stay.
    """

    window: int
    threshold: int
    tail: int
    kept: int = 0

    @property
    def tail_most(self) -> int:
        """The end may be this long when a group of messages crosses its bound."""
        return self.tail * 3 // 2

    def estimated(self, ratio: float) -> "Limits":
        """The same in estimated tokens, when each of these is ``ratio`` real ones."""
        window, threshold, tail, kept = (
            int(bound / ratio) for bound in (self.window, self.threshold, self.tail, self.kept)
        )
        return Limits(window=window, threshold=threshold, tail=tail, kept=kept)

    def summary(self, content: int) -> int:
        """How long a summary of that many tokens may be."""
        most = min(10_000, max(self.window // 20, min(2_000, self.window // 8)))
        return min(most, max(2_000, content // 5), max(200, content // 2))


def limits(config: Config, window: int, reply: int = 0) -> Limits:
    """The limits for a window (0: unknown) in which ``reply`` tokens are kept free."""
    window = window or config.window
    share = config.threshold or (0.75 if window < LARGE else 0.5)
    threshold = max(int(share * (window - reply)), config.least_tokens)
    if threshold >= window:
        threshold = max(min(window * 85 // 100, window - reply), window * 30 // 100)
    kept = min(int(threshold * config.keep_ratio), MOST_KEPT)
    return Limits(window=window, threshold=threshold, tail=int(threshold * config.target_ratio), kept=kept)
