"""What a host's side of a conversation promises to slash commands."""

import pytest

from hermes_core.errors import UserError
from hermes_core.slash import HostSide, Place
from hermes_core.testing.bench import Bench
from hermes_core.testing.scripted import ScriptedProvider
from hermes_core.types import Message

__all__ = ["HostSideContract"]


class HostSideContract:
    """Inherit in ``tests``, and give a ``side`` of a new conversation; ``hermes.context`` gives what it is made with.

    ``place`` is where it is. Nothing was said in it, and no turn runs.
    """

    place: Place = "terminal"

    @pytest.fixture
    def side(self, hermes: Bench) -> HostSide:
        """The side under test."""
        raise NotImplementedError("give a side fixture")

    @pytest.fixture(autouse=True)
    def _somebody_answers(self, hermes: Bench) -> None:
        hermes.tmp_plugin(ScriptedProvider([]))

    async def test_it_talks_to_one_session(self, side: HostSide) -> None:
        """``take_up`` makes a session when it is first wanted, and gives the same from then on.

        If this fails: keep what ``ctx.turns.take_up`` gave.
        """
        first = await side.take_up()
        assert first.id
        assert (await side.take_up()).id == first.id

    async def test_it_goes_on_in_another_session_and_back(self, side: HostSide) -> None:
        """``switch`` gives a new session, or an earlier one by its id, and from then on it is the one at hand.

        If this fails: forget the session that was kept, and take up the one that is wanted.
        """
        first = await side.take_up()
        await side.queue(first, "Let there be a row.")
        new = await side.switch()
        assert new.id != first.id
        assert (await side.take_up()).id == new.id
        assert (await side.switch(first.id)).id == first.id
        assert (await side.take_up()).id == first.id

    async def test_nothing_runs_and_nothing_is_stopped(self, side: HostSide) -> None:
        """Where no turn runs, ``working`` and ``interrupt`` say so.

        If this fails: ask ``ctx.turns.busy`` and ``ctx.turns.interrupt``, for the owner of the session.
        """
        session = await side.take_up()
        assert await side.working(session) is False
        assert await side.interrupt(session) is False

    @pytest.mark.parametrize("way", ["queue", "steer"])
    async def test_what_is_said_is_not_lost(self, hermes: Bench, side: HostSide, way: str) -> None:
        """What is said after a turn, or to one that has just ended, waits; or is given back, to come in as a message.

        If this fails: write it down by ``ctx.turns.queue`` or ``steer``, or return it as a Message of role ``user``.
        """
        session = await side.take_up()
        told = await (side.queue if way == "queue" else side.steer)(session, "Mind the step.")
        if isinstance(told, Message):
            assert told.role == "user"
            assert "Mind the step." in str(told.parts)
            return
        here = hermes.slashes(self.place).conversation(side, session)
        assert ["Mind the step." in str(message.parts) for _, message in await here.queue.list()] == [True]

    async def test_what_is_done_beside_has_a_session_of_its_own(self, side: HostSide) -> None:
        """``beside`` gives the id of another session, or says by a UserError that it cannot be done here.

        If this fails: ``ctx.turns.queue`` without a session in its order makes one.
        """
        session = await side.take_up()
        try:
            name = await side.beside(session, "Look it up.")
        except UserError:
            return
        assert name
        assert name != session.id
        assert (await side.take_up()).id == session.id, "the conversation goes on where it was"

    async def test_commands_work_in_it(self, hermes: Bench, side: HostSide) -> None:
        """The kernel's own commands are run for its person: one stops what runs, one begins anew.

        If this fails: say in words ``who`` the person is, and what their ``role`` is.
        """
        commands, before = hermes.slashes(self.place), await side.take_up()
        assert await commands.run(side, "stop", "") == "Nothing runs."
        await commands.run(side, "new", "")
        assert (await side.take_up()).id != before.id
        with pytest.raises(UserError, match="There is no command /nonsense"):
            await commands.run(side, "nonsense", "")
        assert side.who
