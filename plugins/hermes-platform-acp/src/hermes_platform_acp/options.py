"""What a person chooses for a session in their editor: what needs a yes, who answers, how hard they think."""

from collections.abc import Sequence

from hermes_core.values import frozen

__all__ = ["EFFORT", "EFFORTS", "MODE", "MODEL", "MODES", "Option", "Value"]

MODE, MODEL, EFFORT = "mode", "model", "effort"
DEFAULT = "default"


@frozen
class Value:
    """One of the values of an option."""

    id: str
    name: str
    description: str = ""


@frozen(kw_only=True)
class Option:
    """One option; ``category`` is the protocol's word for what it is about."""

    id: str
    name: str
    category: str
    value: str
    values: Sequence[Value]


MODES = (
    Value("ask", "Ask", "What crosses the wall or is risky needs your yes."),
    Value("smart", "Smart", "A second model looks first, and asks you where it is not sure."),
    Value("off", "Off", "Nothing needs your yes. Hard blocks and your rules hold."),
)
EFFORTS = (
    Value(DEFAULT, "As set up"),
    Value("none", "None"),
    Value("minimal", "Minimal"),
    Value("low", "Low"),
    Value("medium", "Medium"),
    Value("high", "High"),
    Value("xhigh", "Very high"),
    Value("max", "Highest"),
)
