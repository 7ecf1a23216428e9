"""Services of plugins: kept up, one at a time where they say so, and never in the way of anything else."""

import asyncio
from contextlib import asynccontextmanager, suppress

import pytest
from gateway_house import context_of, rows_of

from hermes_core.errors import UserError
from hermes_core.kinds import Service
from hermes_core.testing import Bench
from hermes_platform_gateway.supervision.services import Services


class Worker(Service):
    """Does what it is told at each start, one after another, and then works on."""

    name = "worker"

    def __init__(self, *starts, alone=False, local=False):
        self.local = local
        self.starts, self.alone, self.began, self.ended, self.ill = list(starts), alone, 0, 0, ""

    async def run(self):
        self.began += 1
        try:
            if self.starts:
                what = self.starts.pop(0)
                if isinstance(what, BaseException):
                    raise what
                return await what()
            await asyncio.Event().wait()
        finally:
            self.ended += 1

    def health(self):
        return self.ill


@asynccontextmanager
async def serving(hermes, service=None, **settings):
    hermes.configure({"gateway.retry_seconds": 0.01, **settings})
    if service:
        hermes.tmp_plugin(service, name="busy")
    services = Services(context_of(hermes))
    services.start()
    try:
        yield services
    finally:
        await services.stop()


async def until(services, state):
    async with asyncio.timeout(20):
        while [one.state for one in services.supervisors] != [state]:
            await asyncio.sleep(0.01)


async def told(hermes):
    accounts = await rows_of(hermes).accounts.list()
    return [(row.account.partition("@")[0], row.state, row.served) for row in accounts]


async def test_it_runs_until_it_is_stopped_and_is_told_of(hermes):
    worker = Worker()
    async with serving(hermes, worker) as services:
        async with asyncio.timeout(20):
            while await told(hermes) != [("worker", "running", True)]:
                await asyncio.sleep(0.01)
        assert list(map(str, services.supervisors)) == ["service worker: running"]
    assert (worker.began, worker.ended) == (1, 1)
    assert await told(hermes) == [("worker", "stopped", False)]


async def test_what_falls_is_named_and_run_again(hermes):
    worker = Worker(KeyError("x"), SystemExit(3), ValueError("y"))
    async with serving(hermes, worker) as services:
        await until(services, "running")
        async with asyncio.timeout(20):
            while worker.began < 4:
                await asyncio.sleep(0.01)
    faults = [(fault.plugin, fault.where, fault.error) for fault in hermes.runtime.dispatch.faults]
    where = "register_services: worker"
    assert faults == [("tool/busy", where, "KeyError: 'x'"), ("tool/busy", where, "ValueError: y")]
    assert worker.ended == 4


async def test_what_only_a_person_can_mend_waits_for_one(hermes):
    worker = Worker(UserError("There is no key."))
    async with serving(hermes, worker) as services:
        await until(services, "parked")
        (one,) = services.supervisors
        assert str(one) == "service worker: parked (There is no key.)"
        assert one.resume()
        await until(services, "running")
        assert not one.resume()
    assert not hermes.runtime.dispatch.faults


async def test_what_returns_is_done(hermes):
    async def nothing(): ...

    worker = Worker(nothing)
    async with serving(hermes, worker) as services:
        await until(services, "done")
        async with asyncio.timeout(20):
            while await told(hermes) != [("worker", "stopped", False)]:
                await asyncio.sleep(0.01)
    assert worker.began == 1


@pytest.mark.parametrize("how", ["", "alone", "local"])
async def test_one_that_is_alone_or_local_runs_in_one_process_of_a_machine_at_a_time(hermes, tmp_path, how):
    other, alone = Bench(tmp_path / "home"), bool(how)
    states = ["running", "standby" if alone else "running"]
    mine, theirs = (Worker(alone=how == "alone", local=how == "local") for _ in range(2))
    async with serving(other, theirs) as second:
        await until(second, "running")
        async with serving(hermes, mine) as first:
            await until(first, states[1])
            assert second.supervisors[0].state == states[0]
            assert mine.began == (0 if alone else 1)
    await other.close()


async def test_a_local_one_runs_on_each_machine(hermes, tmp_path, monkeypatch):
    other = Bench(tmp_path / "home")
    mine, theirs = Worker(local=True), Worker(local=True)
    async with serving(other, theirs) as second:
        await until(second, "running")
        monkeypatch.setattr("socket.gethostname", lambda: "another")
        async with serving(hermes, mine) as first:
            await until(first, "running")
            assert (mine.began, theirs.began) == (1, 1)
    await other.close()


async def test_what_it_did_is_told_and_one_that_cannot_say_is_named(hermes, tmp_path):
    class Telling(Worker):
        async def status(self):
            return "counted 3 sheep" if self.local else {}["x"]

    hermes.tmp_plugin(Telling(local=True), name="busy")
    (one,) = context_of(hermes).host.services()
    assert (await one.status(), one.local) == ("counted 3 sheep", True)
    other = Bench(tmp_path / "other")
    other._options["strict"] = False
    other.tmp_plugin(Telling(), name="ill")
    (one,) = context_of(other).host.services()
    assert await one.status() == ""
    assert [(fault.plugin, fault.error) for fault in other.runtime.dispatch.faults] == [("tool/ill", "KeyError: 'x'")]
    await other.close()


async def test_the_next_one_goes_on_when_the_first_lets_go(hermes, tmp_path, monkeypatch):
    monkeypatch.setattr("hermes_platform_gateway.supervision.supervisor._LOOK", 0.01)
    other = Bench(tmp_path / "home")
    mine, theirs = Worker(alone=True), Worker(alone=True)
    async with serving(other, theirs) as second:
        await until(second, "running")
        task = asyncio.create_task(_run_until_running(hermes, mine))
        await asyncio.sleep(0.1)
        assert mine.began == 0
        await second.stop()
        await task
    assert (theirs.ended, mine.began) == (1, 1)
    await other.close()


async def _run_until_running(hermes, worker):
    async with serving(hermes, worker) as services:
        await until(services, "running")


async def test_what_it_says_of_its_health_is_shown(hermes, monkeypatch):
    monkeypatch.setattr("hermes_platform_gateway.supervision.supervisor._BEAT", 0.01)
    worker = Worker()
    async with serving(hermes, worker) as services:
        await until(services, "running")
        worker.ill = "The feed is slow."
        async with asyncio.timeout(20):
            while "The feed is slow." not in str(services.supervisors[0]):
                await asyncio.sleep(0.01)
        (since,) = (one.since for one in services.supervisors)
        await asyncio.sleep(0.05)
        assert [one.since for one in services.supervisors] == [since], "nothing changed since"
    assert worker.began == 1


async def test_one_that_cannot_say_how_it_is_goes_on_and_is_named(hermes, monkeypatch):
    class Mute(Worker):
        def health(self):
            raise RuntimeError("no voice")

    hermes._options["strict"] = False
    worker = Mute()
    async with serving(hermes, worker) as services:
        async with asyncio.timeout(20):
            while "It cannot say how it is." not in str(services.supervisors[0]):
                await asyncio.sleep(0.01)
        assert services.supervisors[0].state == "running"
    assert worker.began == 1
    assert [fault.error for fault in hermes.runtime.dispatch.faults] == ["RuntimeError: no voice"]


async def test_one_that_does_not_let_go_is_named_and_left(hermes, monkeypatch):
    monkeypatch.setattr("hermes_platform_gateway.supervision.services.CLOSE", 0.1)
    free = asyncio.Event()

    async def deaf():
        while not free.is_set():
            with suppress(asyncio.CancelledError):
                await free.wait()

    async with serving(hermes, Worker(deaf)) as services:
        await until(services, "running")
    (fault,) = hermes.runtime.dispatch.faults
    assert (fault.plugin, fault.error) == ("tool/busy", "did not end within 0.1 s of being stopped")
    free.set()


async def test_one_that_holds_the_loop_is_named(hermes, monkeypatch):
    import time

    monkeypatch.setattr("hermes_core.plugins.fence.BLOCKING", 0.05)

    async def slow():
        time.sleep(0.1)  # noqa: ASYNC251 - that is its fault

    async with serving(hermes, Worker(slow)) as services:
        await until(services, "done")
    assert list(hermes.runtime.dispatch.blocked) == ["tool/busy"]


async def test_a_store_without_services_is_not_written_to(hermes):
    async with serving(hermes) as services:
        assert services.supervisors == ()
    assert await told(hermes) == []
