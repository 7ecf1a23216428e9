"""Many prompts, answered side by side, each once: what is stopped in the middle goes on where it was."""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterable
from contextlib import ExitStack, aclosing, asynccontextmanager
from hashlib import sha256

import attrs

from hermes_agent.past import answer_in, finished, text_in
from hermes_agent.purse import Purse
from hermes_atomic.whole import Busy, held
from hermes_core.embed import Answer, Hermes
from hermes_core.errors import HermesError, UserError
from hermes_core.types import Principal, TurnBounds

__all__ = ["Item", "answers"]

_LOOKS, _LOOK = 5, 0.05  # looks, and seconds between them, at whether the same name is still at work


@attrs.frozen(kw_only=True)
class Item:
    """What came of one prompt: an answer, or the error that its turn failed with. ``again``: it was there already."""

    prompt: str
    answer: Answer | None = None
    error: HermesError | None = None
    again: bool = False


async def answers(
    hermes: Hermes,
    prompts: Iterable[str],
    *,
    name: str,
    concurrency: int = 8,
    owner: Principal | None = None,
    budget: TurnBounds | None = None,
) -> AsyncGenerator[Item, None]:
    """Answer prompts, in the order in which they get ready.

    Each has a session of its own, found by its text. So the same call with the same ``name``, in another process too,
    gives the answers that are there already, finishes the turns that a death cut, and asks only what is left.

    Args:
        hermes: Who answers. Its settings bound what may be spent (``budget.day.money``): what is over fails.
        prompts: What is asked; the same text twice is asked once.
        name: What the sessions' names begin with; another one asks everything anew.
        concurrency: How many are answered at once, from 1 on.
        owner: For whom.
        budget: What all of them may use together: calls, tokens, money. It counts over deaths, and what an earlier
            run used; the rest of it bounds each turn. What is over fails with BudgetReached, and more goes on.

    Raises:
        UserError: none would be answered at once, the budget is one of seconds, or the same name is at work already.
    """
    if concurrency < 1:
        raise UserError(f"{concurrency} prompts at once answer none.", hint="concurrency is at least 1.")
    items = _answers(hermes, prompts, name, concurrency, owner, budget)
    async with _alone(hermes, name, owner or hermes.owner), aclosing(items):
        async for item in items:
            yield item


@asynccontextmanager
async def _alone(hermes: Hermes, name: str, owner: Principal) -> AsyncGenerator[None]:
    """Keep other processes of this machine out: each would ask what the other has not answered yet, and pay for it."""
    words = json.dumps([name, owner.profile, owner.person]).encode("utf-8", "replace")
    file = hermes.runtime.home.cache / "batches" / sha256(words).hexdigest()[:24]
    with ExitStack() as stack:
        for _ in range(_LOOKS):
            try:
                stack.enter_context(held(file, seconds=0.0))
                break
            except Busy:
                await asyncio.sleep(_LOOK)  # what was left in the middle may be about to end
        else:
            raise UserError(f"{name} is at work already.", hint="Wait for it, or give another name.")
        yield


async def _answers(
    hermes: Hermes, prompts: Iterable[str], name: str, concurrency: int, owner: Principal | None,
    budget: TurnBounds | None,
) -> AsyncGenerator[Item, None]:  # fmt: skip
    texts = list(dict.fromkeys(prompts))
    left = iter(texts)  # each worker takes the next
    done: asyncio.Queue[Item | asyncio.Task[None]] = asyncio.Queue()
    cut = set(await hermes.interrupted(owner=owner))
    purse = Purse(hermes, owner or hermes.owner, budget or TurnBounds(), concurrency)
    await purse.count([_session(name, text) for text in texts])

    async def work() -> None:
        for text in left:
            done.put_nowait(await _item(hermes, text, name, owner or hermes.owner, cut, purse))

    workers = [asyncio.create_task(work()) for _ in range(min(concurrency, len(texts)))]
    for worker in workers:
        worker.add_done_callback(done.put_nowait)
    due = len(texts)
    try:
        while due:
            ready = await done.get()
            if isinstance(ready, Item):
                due -= 1
                yield ready
            else:  # a worker that has nothing left, or that broke
                ready.result()
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


def _session(name: str, prompt: str) -> str:
    return f"{name}-{sha256(prompt.encode('utf-8', 'replace')).hexdigest()[:24]}"


async def _item(hermes: Hermes, prompt: str, name: str, owner: Principal, cut: set[str], purse: Purse) -> Item:
    session = _session(name, prompt)
    try:
        if session in cut:
            async with purse.share(session) as bounds:
                return Item(prompt=prompt, answer=await finished(hermes, session, owner, bounds=bounds))
        if there := await answer_in(hermes, session, owner):
            return Item(prompt=prompt, answer=Answer(text=text_in(there), session=session, reason="done"), again=True)
        async with purse.share(session) as bounds:
            answer = await hermes.run(prompt, session=session, origin=name, owner=owner, bounds=bounds)
    except HermesError as error:
        return Item(prompt=prompt, error=error)
    return Item(prompt=prompt, answer=answer)
