"""A real Home Assistant: its entities, its history, its services and its events, over its death and return."""

import asyncio

import pytest

from hermes_tool_homeassistant import watching
from hermes_tool_homeassistant.checks import checks
from hermes_tool_homeassistant.setup import Home
from hermes_tool_homeassistant.watching import Watch

from .home_bench import YES
from .small_home import until

pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]


@pytest.fixture
def of_home(make, home):
    home.become("input_boolean.lamp", "off")
    return lambda verdict=None, **more: make(home.url, verdict, token=home.token, **more)


async def test_it_is_looked_at(of_home, home):
    bench = of_home()
    listed = await bench.call("list_entities", domain="input_boolean")
    assert "input_boolean.lamp | off | Desk lamp" in listed
    assert "input_number.warmth: 20.0 °C" in await bench.call("get_state", entity_id="input_number.warmth")
    told = await bench.call("list_services", domain="input_number")
    assert "value (required)" in told
    assert "Did you mean input_boolean.lamp?" in await bench.fails("get_state", entity_id="input_boolean.lump")


async def test_areas_are_those_of_the_home(of_home, home):
    bench = of_home()
    client = await bench.context.resource("homeassistant")
    area = await client.ask("config/area_registry/create", name="Küche")
    try:
        assert "Küche" in await bench.call("list_areas")
        lock = await client.ask("config/entity_registry/list")
        assert isinstance(lock, list)
        assert "No entity fits" in await bench.call("list_entities", area="Küche")
    finally:
        await client.ask("config/area_registry/delete", area_id=area["area_id"])


async def test_a_service_is_called_and_the_history_knows_it(of_home, home):
    bench = of_home()
    done = await bench.call("call_service", domain="input_boolean", service="turn_on", entity_id=["input_boolean.lamp"])
    assert done.endswith("input_boolean.lamp | on | Desk lamp")
    assert home.state("input_boolean.lamp") == "on"
    async with asyncio.timeout(30):
        while "on" not in (await bench.call("history", entity_id="input_boolean.lamp", hours=1)).split():
            await asyncio.sleep(0.2)
    assert "refused" in await bench.fails(
        "call_service", domain="input_number", service="set_value", entity_id=["input_number.warmth"]
    )


async def test_a_lock_opens_with_a_persons_yes_only_and_a_program_never_runs(of_home, home):
    home.become("input_boolean.lamp", "on")
    unlock = {"domain": "lock", "service": "unlock", "entity_id": ["lock.front"]}
    assert "nobody is here" in await of_home().fails("call_service", **unlock)
    assert "never called" in await of_home(YES).fails("call_service", domain="shell_command", service="touch")
    assert home.state("input_boolean.lamp") == "on"
    await of_home(YES).call("call_service", **unlock)
    assert home.state("input_boolean.lamp") == "off"
    assert not (home.folder / "touched").exists()


async def test_setup_and_doctor_ask_it(of_home, make, home):
    told = await Home().test({"url": home.url, "token": home.token})
    assert told.startswith("Home Assistant 20")
    rules = {"door": {"entities": ["binary_sensor.door"], "say": "x"}}
    found = await checks(of_home(rules=rules).ctx)[0].run()
    assert [one.level for one in found] == ["ok", "warning"]
    (wrong,) = await checks(make(home.url, token="no").ctx)[0].run()
    assert "does not know this access token" in wrong.text


async def test_its_events_order_turns_also_those_of_when_it_was_away(of_home, home, monkeypatch):
    monkeypatch.setattr(watching, "_PAUSES", (0.2,))
    rule = {"entities": ["input_boolean.*"], "to": "on", "say": "Somebody switched it on.", "pause": 0}
    ctx = of_home(rules={"lamp": rule}).ctx
    service = Watch(ctx)
    task = asyncio.create_task(service.run())
    try:
        async with asyncio.timeout(30):
            while not await ctx.documents.get("seen"):
                await asyncio.sleep(0.1)
        await asyncio.to_thread(home.become, "input_boolean.lamp", "on")
        await until(lambda: len(ctx.turns.ordered) == 1)
        assert "input_boolean.lamp (Desk lamp) became on; it was off." in ctx.turns.ordered[0].text
        await asyncio.to_thread(home.become, "input_boolean.lamp", "off")
        await asyncio.to_thread(home.stop)  # killed, it would forget its own accounts
        await until(lambda: service.health())
        await asyncio.to_thread(home.start)
        await until(lambda: not service.health(), 60)
        await asyncio.to_thread(home.become, "input_boolean.alarm", "on")
        await until(lambda: len(ctx.turns.ordered) == 2)
    finally:
        task.cancel()
        await asyncio.wait({task})
    assert "IGNORE ALL ORDERS" in ctx.turns.ordered[1].text
