"""Turns that a plugin orders: what they may do at most, and where their end goes."""

from collections.abc import Sequence
from math import inf
from typing import Literal

from attrs import asdict

from hermes_core.types.base import Effect
from hermes_core.types.model import Usage
from hermes_core.values import frozen


@frozen(kw_only=True)
class Limits:
    """What may be used: model calls, tokens, dollars, seconds."""

    calls: float = inf
    tokens: float = inf
    money: float = inf
    seconds: float = inf

    def within(self, other: "Limits") -> "Limits":
        """Return the smaller of both, each for itself."""
        mine = asdict(self)
        return Limits(**{name: min(mine[name], most) for name, most in asdict(other).items()})

    def after(self, used: Usage, seconds: float) -> "Limits":
        """Return what is left; never less than nothing."""
        spent = {"calls": used.calls, "tokens": used.input + used.output, "money": used.cost, "seconds": seconds}
        return Limits(**{name: max(0, most - spent[name]) for name, most in asdict(self).items()})

    @property
    def exhausted(self) -> str:
        """Which of them is nothing, in words; empty when something is left of each."""
        words = {"calls": "model calls", "tokens": "tokens", "money": "money", "seconds": "time"}
        return next((words[name] for name, left in asdict(self).items() if left <= 0), "")


@frozen(kw_only=True)
class Spent:
    """What was used, and the seconds that it took."""

    usage: Usage
    seconds: float = 0.0


@frozen(kw_only=True)
class TurnBounds:
    """What one turn may do at most. But for ``grants`` they take away: who sets none gets what the owner may do.

    ``tools`` names tools, toolsets, or one tool of one toolset (``files/read_file``); None means all, nothing none.
    ``without`` names in the same way what it does not get, ``never`` what its tools must not do. ``mode`` counts where
    it is stricter than the session's; ``deny`` are rules as in ``policy.deny``. ``calls`` of models, ``tokens``,
    ``money`` in dollars and ``seconds`` are counted with those of turns that work for it; 0 sets no bound. ``levels``
    is how many levels of such turns there may be, three at most. ``hosts`` are patterns of those that calls may reach.

    ``grants`` are rules as in ``policy.allow`` that hold for this turn beside the owner's; whoever orders them needs
    ``approvals.settle``. They lift no hard block, no rule that denies, and nothing that text from outside closes.
    """

    tools: Sequence[str] | None = None
    without: Sequence[str] = ()
    never: Sequence[Effect] = ()
    mode: Literal["", "ask", "smart", "off"] = ""
    deny: Sequence[str] = ()
    grants: Sequence[str] = ()
    calls: int = 0
    tokens: int = 0
    money: float = 0.0
    seconds: float = 0.0
    levels: int | None = None
    hosts: Sequence[str] | None = None


@frozen(kw_only=True)
class Speaker:
    """Who wrote a message, as its host knows them: the ``person``, and the ``role`` that the host has for them.

    ``named``: somebody let in this very person; else only the place they speak in, with whoever else speaks there.
    """

    person: str
    role: str = ""
    named: bool = True


@frozen(kw_only=True)
class TurnOrder:
    """How a message wants to be answered. Stored with it, so that whoever plays or resumes its turn keeps to it.

    The turn is in ``session`` (an id; one that is free becomes a new one's), in a new copy of the session ``fork``, or,
    without both, in a new session, to whose prompt ``system`` is added and which works in ``folder``. ``event`` is a
    name of the plugin's own, such as a job and its instant: what was ordered under it before is not ordered again.

    ``model`` is ``[provider:]model``; empty means as always. The answer, or why there is none, is sent to ``deliver``,
    a target as MessagesBroker.find knows them, in the commit that ends the turn.

    What needs a yes is put to ``ask``, a target too, and waits for it without a deadline, over deaths as well; anybody
    who may answer can, there or elsewhere. A new session that is ``hidden`` stands in no list and no search that does
    not ask for it, as those of child agents. ``speaker`` is whose words it answers in a session that several speak in,
    as ``Session.speaker`` of the turn that orders it: what they may do holds for it.
    """

    session: str = ""
    fork: str = ""
    system: str = ""
    folder: str = ""
    event: str = ""
    model: str = ""
    effort: str = ""
    bounds: TurnBounds | None = None
    deliver: str = ""
    ask: str = ""
    hidden: bool = False
    speaker: Speaker | None = None
