"""Messages through services that time out before and after they took one, say 429, and refuse edits."""

import random

import pytest
from delivery_judge import judge
from far_end import KINDS, FarEnd
from gateway_house import context_of, rows_of
from post import Clock, outgoing, send_all

from hermes_platform_gateway.outward.pieces import pieces_of
from hermes_platform_gateway.outward.sender import Sender


async def send_some(store, tmp_path, kind, seed, **odds):
    """Twelve messages to three chats, some of them long."""
    dice, clock = random.Random(f"{kind} {seed}"), Clock()
    random.seed(seed)
    far = FarEnd(tmp_path / "seen", kind, seed=seed, limit=200, odds=odds, clock=clock)
    wanted = []
    for number in range(12):
        parts = [f"The answer to question {number}."]
        parts += [f"It has part {number}.{part}, too." for part in range(dice.choice((0, 0, 3, 20)))]
        text = " ".join(parts)
        chat = dice.choice("abc")
        row = outgoing(str(number), text, chat)
        wanted += [(chat, piece.parts[0].text) for piece in pieces_of(row.message, far)]
        await rows_of(store).outbox.send_later(row)
        await rows_of(store).outbox.send_later(row)
    sender = Sender(context_of(store), far, clock=clock, poll=5.0)
    await send_all(store, sender, clock)
    return far, wanted


async def given_up(store, far):
    """What was tried as often as may be, and failed."""
    failed = await rows_of(store).outbox.outbox_of(state="failed")
    assert all("may have arrived" in row.error for row in failed)
    return {(row.outgoing.chat.id, piece.parts[0].text) for row in failed for piece in row.pieces}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.few(3)
async def test_every_text_is_seen_once_and_in_order(store, tmp_path, kind, seed):
    far, wanted = await send_some(store, tmp_path, kind, seed)
    lost = await given_up(store, far)
    judge(far, wanted, lost=lost)
    assert not lost or kind in ("plain", "edits"), "what may be repeated is never given up"
    assert not far.impatient, "somebody was told to wait, and did not"


@pytest.mark.parametrize("kind", ["edits", "keyed"])
@pytest.mark.few(2)
async def test_an_edit_that_is_refused_is_sent_instead(store, tmp_path, kind, seed):
    far, wanted = await send_some(store, tmp_path, kind, seed, no_edit=0.3)
    judge(far, wanted, lost=await given_up(store, far), refusals=True)
