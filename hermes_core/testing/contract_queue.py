"""What every turn queue must do, wherever the sessions it hands out are played."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from hermes_core.kinds import TurnQueue

__all__ = ["TurnQueueContract"]

PATIENCE = 50.0  # seconds; a queue that needs them hangs


class Workers:
    """Plays sessions for a queue and notes what was played. ``gate`` holds plays up while it is closed."""

    def __init__(self) -> None:
        self.began: list[str] = []
        self.ended: list[str] = []
        self.cancelled: list[str] = []
        self.now: set[str] = set()
        self.most = 0
        self.twice: list[str] = []  # sessions that were played twice at a time
        self.failing: set[str] = set()
        self.gate = asyncio.Event()
        self._changed = asyncio.Condition()

    async def play(self, session_id: str) -> None:
        """Play one session: wait for the gate; fail when it is to fail."""
        if session_id in self.now:
            self.twice.append(session_id)
        self.now.add(session_id)
        self.most = max(self.most, len(self.now))
        self.began.append(session_id)
        await self._tell()
        try:
            await self.gate.wait()
            await asyncio.sleep(0)
            if session_id in self.failing:
                self.failing.discard(session_id)
                raise RuntimeError("this play was told to fail")
        except asyncio.CancelledError:
            self.cancelled.append(session_id)
            raise
        finally:
            self.now.discard(session_id)
            self.ended.append(session_id)
            await asyncio.shield(self._tell())

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def until(self, happened: Callable[[], bool]) -> None:
        """Wait until something is so. Fails when it is not so for long."""
        try:
            async with asyncio.timeout(PATIENCE), self._changed:
                await self._changed.wait_for(happened)
        except TimeoutError:
            pytest.fail(f"waited too long: began {self.began}, ended {self.ended}, now {sorted(self.now)}")


class TurnQueueContract:
    """Inherit in ``tests/test_contract.py``, give ``make_queue``, and every promise of TurnQueue is checked.

    Each test has a queue of its own that nobody else puts into. Where a queue reaches beyond its process, say
    ``shared = True``: ``make_queue`` is then called twice in a test, as by two processes.
    """

    shared = False  # whether two objects hand out the same sessions

    @pytest.fixture
    def make_queue(self) -> Callable[[], TurnQueue]:
        """What makes a queue. Called twice in one test, both hand out the same sessions."""
        raise NotImplementedError("give the fixture make_queue")

    @pytest.fixture
    async def queue(self, make_queue: Callable[[], TurnQueue]) -> AsyncIterator[TurnQueue]:
        """The queue of a test."""
        made = make_queue()
        yield made
        await made.close()

    async def test_has_a_name(self, queue: TurnQueue) -> None:
        """``workers.queue`` names the queue by its class's ``name``.

        If this fails: give the class a ``name`` of its own.
        """
        assert queue.name == type(queue).name != ""

    async def test_what_was_put_before_the_work_began_is_played(self, queue: TurnQueue) -> None:
        """What was put while nobody worked is played as soon as somebody works.

        If this fails: look for what waits at the start of ``work``, not only for what is put from then on.
        """
        workers = _open()
        for name in ("a", "b", "c"):
            await queue.put(name)
        async with working(queue, workers, 3):
            await workers.until(lambda: sorted(workers.ended) == ["a", "b", "c"])

    async def test_one_worker_plays_in_the_order_of_arrival(self, queue: TurnQueue) -> None:
        """Who came first is played first.

        If this fails: hand out the session that waits longest; a set or a stack forgets who that is.
        """
        workers, names = _open(), [f"s{n}" for n in range(6)]
        for name in names:
            await queue.put(name)
        async with working(queue, workers, 1):
            await workers.until(lambda: len(workers.ended) == len(names))
        assert workers.began == names

    async def test_what_is_put_while_it_works_is_played(self, queue: TurnQueue) -> None:
        """A session that was played is played again when something new comes.

        If this fails: forget a session when its play has ended, and wake ``work`` at each ``put``.
        """
        workers = _open()
        async with working(queue, workers, 2):
            for name in ("a", "b", "a"):
                await queue.put(name)
                await workers.until(lambda: not workers.now and workers.ended == workers.began != [])
            await workers.until(lambda: {"a", "b"} <= set(workers.ended))

    async def test_at_most_so_many_side_by_side(self, queue: TurnQueue) -> None:
        """``workers`` is the most that plays at a time, and as many do play while enough wait.

        If this fails: count the plays that run; take another session only when one has ended.
        """
        workers, names = Workers(), [f"s{n}" for n in range(7)]
        async with working(queue, workers, 3):
            for name in names:
                await queue.put(name)
            await workers.until(lambda: len(workers.now) == 3)
            workers.gate.set()
            await workers.until(lambda: sorted(workers.ended) == names)
        assert workers.most == 3

    async def test_the_places_are_shared_by_person(self, queue: TurnQueue) -> None:
        """Who has the fewest that play is next: one person's work waits for its own, and nobody's for it.

        If this fails: keep what waits by person, and look for who has the fewest before who came first.
        """
        workers = _open()
        for name in ("a1", "a2", "a3", "a4"):
            await queue.put(name, "ann")
        for name, person in (("b1", "ben"), ("c1", "cat"), ("b2", "ben")):
            await queue.put(name, person)
        workers.gate.clear()
        async with working(queue, workers, 3):
            await workers.until(lambda: len(workers.now) == 3)
            assert workers.now == {"a1", "b1", "c1"}
            workers.gate.set()
            await workers.until(lambda: len(workers.ended) == 7)
        assert [name for name in workers.began if name[0] == "a"] == ["a1", "a2", "a3", "a4"]
        assert [name for name in workers.began if name[0] == "b"] == ["b1", "b2"]

    async def test_one_person_has_no_more_than_a_share(self, queue: TurnQueue) -> None:
        """``most`` bounds what of one person plays at a time; the places that are left are for others, at once.

        If this fails: count the plays of each person, and leave a place empty rather than exceed it.
        """
        workers, names = Workers(), [f"a{n}" for n in range(5)]
        async with working(queue, workers, 4, most=2):
            for name in names:
                await queue.put(name, "ann")
            await workers.until(lambda: len(workers.now) == 2)
            await queue.put("b", "ben")
            await workers.until(lambda: "b" in workers.now)
            assert workers.now == {"a0", "a1", "b"}
            workers.gate.set()
            await workers.until(lambda: sorted(workers.ended) == [*names, "b"])
        assert workers.most == 3

    async def test_one_that_plays_long_does_not_hold_up_others(self, queue: TurnQueue) -> None:
        """A long play costs its own place and no other.

        If this fails: start each play in a task of its own; do not wait for a batch.
        """
        workers = Workers()
        async with working(queue, workers, 2):
            await queue.put("long")
            await workers.until(lambda: workers.now == {"long"})
            await queue.put("other")
            await workers.until(lambda: workers.now == {"long", "other"})
            workers.gate.set()
            await workers.until(lambda: not workers.now)

    async def test_a_session_is_never_played_twice_at_a_time(self, queue: TurnQueue) -> None:
        """However often a session is put, one play of it runs.

        If this fails: keep what plays apart from what waits, by session.
        """
        workers = Workers()
        async with working(queue, workers, 4):
            for _ in range(5):
                await queue.put("a")
            await queue.put("b")
            await workers.until(lambda: workers.now == {"a", "b"})
            workers.gate.set()
            await workers.until(lambda: not workers.now and "b" in workers.ended)
        assert not workers.twice

    async def test_what_is_put_while_its_session_plays_is_played_again(self, queue: TurnQueue) -> None:
        """A ``put`` during play leads to another play: the one that runs may have looked for the last time.

        If this fails: note it, and put the session back when its play has ended.
        """
        workers = Workers()
        async with working(queue, workers, 2):
            await queue.put("a")
            await workers.until(lambda: workers.began == ["a"])
            await queue.put("a")  # the play that runs may have looked for the last time already
            workers.gate.set()
            await workers.until(lambda: workers.ended[:2] == ["a", "a"])
        assert not workers.twice

    async def test_a_play_that_fails_stops_nothing(self, queue: TurnQueue) -> None:
        """A play that raises ends alone, and its session can be put again.

        If this fails: catch what ``play`` raises, log it, and let go of the session.
        """
        workers = _open()
        workers.failing = {"bad"}
        async with working(queue, workers, 1):
            await queue.put("bad")
            await queue.put("good")
            await workers.until(lambda: "good" in workers.ended)
            await queue.put("bad")  # it may go well now
            await workers.until(lambda: workers.ended.count("bad") > 1)

    async def test_cancelling_ends_the_plays_and_takes_no_more(self, queue: TurnQueue) -> None:
        """When ``work`` returns from being cancelled, nothing plays any more.

        If this fails: cancel the plays and wait for them before you let the cancellation through; take no session
        meanwhile.
        """
        workers = Workers()
        async with working(queue, workers, 1):
            await queue.put("a")
            await queue.put("b")
            await workers.until(lambda: workers.now == {"a"})
        assert workers.cancelled == ["a"]
        assert workers.began == ["a"]
        assert not workers.now

    async def test_it_works_again_after_it_was_cancelled(self, queue: TurnQueue) -> None:
        """``work`` can be called again, and plays what waits.

        If this fails: keep no state of a run in the object that the next run would trip over.
        """
        workers = Workers()
        async with working(queue, workers, 1):
            await queue.put("a")
            await workers.until(lambda: workers.now == {"a"})
            await queue.put("b")
        workers.gate.set()
        async with working(queue, workers, 1):
            await workers.until(lambda: "b" in workers.ended)

    async def test_a_queue_at_rest_takes_no_more_and_lets_plays_end(self, queue: TurnQueue) -> None:
        """A process that is to stop plays on what it plays, and leaves the rest to the next ``work``.

        If this fails: let ``rest`` keep ``work`` from taking sessions, and do no more.
        """
        workers = Workers()
        async with working(queue, workers, 2):
            await queue.put("a")
            await workers.until(lambda: workers.now == {"a"})
            queue.rest()
            await queue.put("b")
            workers.gate.set()
            await workers.until(lambda: workers.ended == ["a"])
            await asyncio.sleep(0.05)
        assert (workers.began, workers.cancelled) == (["a"], [])
        async with working(queue, workers, 2):
            await workers.until(lambda: "b" in workers.ended)

    async def test_closing_twice_is_quiet(self, queue: TurnQueue) -> None:
        """``close`` can be called twice.

        If this fails: let ``close`` do nothing when everything is closed.
        """
        await queue.put("a")
        await queue.close()
        await queue.close()

    async def test_two_that_work_share_the_sessions(self, make_queue: Callable[[], TurnQueue]) -> None:
        """Two processes play different sessions, and none that plays elsewhere.

        If this fails: hold a lock on the session, where both see it, from before its play until after.
        """
        self._needs_two()
        here, there, one, two = make_queue(), make_queue(), Workers(), Workers()
        async with closing(here, there), working(here, one, 1), working(there, two, 1):
            for name in ("a", "b"):
                await here.put(name)
            await one.until(lambda: len(one.now) == 1)
            await two.until(lambda: len(two.now) == 1)
            assert one.now | two.now == {"a", "b"}
            await here.put(*one.now)  # nobody else may play it meanwhile
            await there.put("c")
            two.gate.set()
            await two.until(lambda: "c" in two.ended)
            assert not one.now & set(two.began)
            one.gate.set()
            await one.until(lambda: not one.now)

    async def test_a_share_counts_in_all_processes(self, make_queue: Callable[[], TurnQueue]) -> None:
        """``most`` bounds what of one person plays at a time, wherever it does.

        If this fails: count where both see it, under a lock of the person.
        """
        self._needs_two()
        here, there, one, two = make_queue(), make_queue(), Workers(), Workers()
        names = [f"a{n}" for n in range(6)]
        async with closing(here, there), working(here, one, 4, most=3), working(there, two, 4, most=3):
            for name in names:
                await here.put(name, "ann")
            await here.put("b", "ben")
            await _both(lambda: len(one.now | two.now) == 4 and "b" in one.now | two.now)
            await asyncio.sleep(0.2)  # as long as it would take to begin one too many
            assert len(one.now | two.now) == 4
            one.gate.set()
            two.gate.set()
            await _both(lambda: sorted([*one.ended, *two.ended]) == [*names, "b"])

    async def test_what_one_puts_wakes_another(self, make_queue: Callable[[], TurnQueue]) -> None:
        """What is put here is played there.

        If this fails: tell the others, or let them look often.
        """
        self._needs_two()
        here, there, workers = make_queue(), make_queue(), _open()
        async with closing(here, there), working(there, workers, 1):
            await here.put("a")
            await workers.until(lambda: workers.ended == ["a"])

    async def test_what_was_cut_off_is_played_by_another(self, make_queue: Callable[[], TurnQueue]) -> None:
        """A session whose play was cancelled waits again, for whoever works.

        If this fails: give it back before ``work`` returns.
        """
        self._needs_two()
        here, there, cut, heir = make_queue(), make_queue(), Workers(), _open()
        async with closing(here, there):
            async with working(here, cut, 1):
                await here.put("a")
                await cut.until(lambda: cut.now == {"a"})
            async with working(there, heir, 1):
                await heir.until(lambda: heir.ended == ["a"])

    def _needs_two(self) -> None:
        if not self.shared:
            pytest.skip("this queue does not claim to reach beyond its process")


def _open() -> Workers:
    workers = Workers()
    workers.gate.set()
    return workers


async def _both(happened: Callable[[], bool]) -> None:
    """Wait until something is so of two at work, who tell only of themselves."""
    async with asyncio.timeout(PATIENCE):
        while not happened():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


@asynccontextmanager
async def working(queue: TurnQueue, workers: Workers, many: int, most: int = 1_000) -> AsyncIterator[None]:
    """The queue at work, with ``most`` of one person; cancelled and waited for at the end. What it raised is raised."""
    work = asyncio.create_task(queue.work(workers.play, many, lambda _: most))
    try:
        yield
    finally:
        work.cancel()
        with suppress(asyncio.CancelledError):
            await work


@asynccontextmanager
async def closing(*queues: TurnQueue) -> AsyncIterator[None]:
    """Close them in the end."""
    try:
        yield
    finally:
        for queue in queues:
            await queue.close()
