"""What every purse promises: it gives seconds, or says no by BudgetReached."""

from collections.abc import Mapping
from typing import Any

import attrs
import pytest

from hermes_core.errors import BudgetReached
from hermes_core.kinds import Purse
from hermes_core.testing.contract_base import PluginContract
from hermes_core.types import Limits, Session, Spent, Usage

__all__ = ["PurseContract"]

NOTHING = Spent(usage=Usage())
A_LOT = Spent(usage=Usage(calls=10**9, input=10**12, output=10**12, cost=1e9), seconds=1e9)
NAMES = {field.name for field in attrs.fields(Limits)}


class PurseContract(PluginContract):
    """Inherit and name your ``module``; give ``purse`` when it needs more than its settings."""

    @pytest.fixture
    def purse(self, contributed: Mapping[str, list[Any]]) -> Purse:
        """The purse under test, nothing spent; by default the first one the plugin contributes."""
        assert contributed.get("purses"), "the plugin contributes no purse; give a purse fixture"
        purse: Purse = contributed["purses"][0]
        return purse

    @pytest.fixture
    def subject(self, purse: Purse) -> Any:
        """The purse."""
        return purse

    async def exercise(self, subject: Any) -> None:
        """Ask before a request, and what is left."""
        await subject.check(_session(), NOTHING, Usage(), last=False)
        await subject.left(_session())

    def test_its_limits_of_a_turn_are_limits(self, purse: Purse) -> None:
        """``limits`` gives Limits, also where nothing is limited otherwise; asked twice, the same.

        If this fails: give ``usual`` back where you have nothing to say of a turn.
        """
        for usual in (Limits(), Limits(calls=90)):
            given = purse.limits(usual)
            assert isinstance(given, Limits), f"limits gave {given!r}"
            assert given == purse.limits(usual), "asked twice, it says two things"

    @pytest.mark.asyncio
    async def test_it_says_yes_or_budget_reached(self, purse: Purse) -> None:
        """``check`` gives seconds, or raises BudgetReached with a hint, however much was spent.

        If this fails: any other error counts as a failure of the plugin, and ends the turn without its words.
        """
        purse.limits(Limits())
        for spent in (NOTHING, A_LOT):
            for last in (False, True):
                said: object = None
                try:
                    said = await purse.check(_session(), spent, Usage(), last=last)
                except BudgetReached as reached:
                    said = reached
                words = not isinstance(said, BudgetReached) or (said.text and said.hint)
                assert words, "BudgetReached needs words for the person, and a hint: what to change, to go on"
                known = isinstance(said, int | float | BudgetReached)
                assert known, f"check gave {said!r}; math.inf says that nothing limits it"

    @pytest.mark.asyncio
    async def test_what_is_left_has_names(self, purse: Purse) -> None:
        """``left`` gives amounts that are not below nothing, by names that end in calls, tokens, money or seconds.

        If this fails: the name says whose limit it is, then what is limited: ``day.money``.
        """
        for name, amount in (await purse.left(_session())).items():
            assert name.rpartition(".")[2] in NAMES, f"{name} names nothing that is limited: {', '.join(sorted(NAMES))}"
            assert amount >= 0, f"{name} is {amount}"


def _session(session_id: str = "s") -> Session:
    return Session(id=session_id, origin="embed", turn="t")
