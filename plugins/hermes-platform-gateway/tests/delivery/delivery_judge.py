"""What must be true of what people see, whatever happened on the way."""

from collections import Counter

from hermes_core.types import Feature
from hermes_platform_gateway.outward.pieces import REPEATED
from hermes_platform_gateway.outward.sender import PLACEHOLDER

MARK = f"{REPEATED}\n"


def judge(far, wanted: list[tuple[str, str]], *, lost=frozenset(), refusals: bool = False) -> Counter:
    """``wanted`` are chats and texts in the order they were put. Gives how often each was seen.

    Where the service takes keys or can edit, each text is seen once; elsewhere, twice at most, and the second one
    says so. Nothing else is seen, but placeholders whose receipt was lost. With ``refusals`` an edit may be refused;
    what is sent in its place is like on a service that cannot edit. What is
    in ``lost`` was given up, and may not be seen.
    """
    once = far.features & {Feature.IDEMPOTENT, Feature.EDIT} and not refusals
    seen = [(chat, text) for chat, text in far.seen() if text != PLACEHOLDER or Feature.EDIT not in far.features]
    counts: Counter = Counter()
    for chat, text in seen:
        counts[chat, text.removeprefix(MARK)] += 1
        if counts[chat, text.removeprefix(MARK)] > 1:
            assert text.startswith(MARK), f"{text!r} came again and did not say so"
    assert set(counts) <= set(wanted), "somebody saw what was not said"
    assert set(counts) >= set(wanted) - set(lost), "somebody did not see what was said"
    assert max(counts.values(), default=1) <= (1 if once else 2)
    first = list(dict.fromkeys((chat, text.removeprefix(MARK)) for chat, text in seen))
    for chat in {chat for chat, _ in wanted}:
        said = [t for c, t in wanted if c == chat and (c, t) in counts]
        assert [t for c, t in first if c == chat] == said, "not in order"
    return counts
