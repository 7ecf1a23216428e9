"""What whoever sends to chats promises, to plugins that send and to the kernel."""

from collections.abc import Sequence

import pytest

from hermes_core.brokers import Mailbox
from hermes_core.errors import UnknownName
from hermes_core.types import Blob, Message, Principal, Question, Target, Text

__all__ = ["MailboxContract"]

NOBODY = Principal(profile="nobody", person="nobody")
SAID = Message(role="assistant", parts=(Text(text="Good morning."),))


class MailboxContract:
    """Inherit in ``tests``, and give ``mailbox``, in which ``owner`` has one chat or more, and ``waiting``.

    Nothing is sent by it: what it wrote down is ``waiting``, for how many messages in all.
    """

    owner: Principal = Principal()

    @pytest.fixture
    def mailbox(self) -> Mailbox:
        """The mailbox under test."""
        raise NotImplementedError("give a mailbox fixture")

    async def waiting(self, mailbox: Mailbox) -> int:
        """How many messages of the owner were written down."""
        raise NotImplementedError("say how many messages wait")

    async def _first(self, mailbox: Mailbox) -> Target:
        targets: Sequence[Target] = await mailbox.targets(self.owner)
        assert targets, "the owner has no chat: the fixture makes one"
        return targets[0]

    async def test_a_chat_is_its_owners_alone(self, mailbox: Mailbox) -> None:
        """Nobody else sees a chat of the owner's, or sends to it.

        If this fails: every method takes an owner, and looks at nobody else's chats.
        """
        target = await self._first(mailbox)
        assert await mailbox.targets(NOBODY) == []
        with pytest.raises(UnknownName):
            await mailbox.send(NOBODY, target.address, SAID)

    async def test_what_has_one_key_is_written_down_once(self, mailbox: Mailbox) -> None:
        """A message that is sent twice with one key is one message.

        If this fails: make the key unique in your tables, and insert only what is new.
        """
        target, before = await self._first(mailbox), await self.waiting(mailbox)
        for _ in range(2):
            assert [one.address for one in await mailbox.send(self.owner, target.address, SAID, key="k")] == [
                target.address
            ]
        assert await self.waiting(mailbox) == before + 1

    async def test_an_end_is_not_written_down_before_its_turn_has_ended(self, mailbox: Mailbox) -> None:
        """What tells of a turn's end is prepared, for the commit that ends it.

        If this fails: ``ending`` gives what ``ctx.store.prepare`` gave, and writes nothing itself.
        """
        target, before = await self._first(mailbox), await self.waiting(mailbox)
        assert callable(await mailbox.ending(self.owner, target.address, SAID, "a turn"))
        note = Message(role="assistant", parts=(Blob(media_type="audio/ogg", data=b"OggS"),))
        assert callable(await mailbox.ending(self.owner, target.address, note, "another"))
        assert await self.waiting(mailbox) == before

    async def test_a_question_is_put_once(self, mailbox: Mailbox) -> None:
        """A question that is put twice, as after a death, is one message.

        If this fails: make the question's id part of the message's key.
        """
        target, before = await self._first(mailbox), await self.waiting(mailbox)
        for _ in range(2):
            await mailbox.ask(self.owner, target.address, Question(id="q", kind="approval", subject="post(it)"))
        assert await self.waiting(mailbox) == before + 1

    async def test_what_names_nothing_finds_nothing(self, mailbox: Mailbox) -> None:
        """An empty word, trace or turn names no message, nor does one that is not there.

        If this fails: rows may have empty columns; compare with them only what is not empty.
        """
        for word in ("", "nothing"):
            assert list(await mailbox.named(word, None)) == []
        assert list(await mailbox.sent("", "", None)) == []
