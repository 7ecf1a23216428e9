"""``hermes attach``: several terminals in one session see the same, and whoever leaves ends nothing."""

import asyncio
import json
from typing import Any


async def test_two_see_the_same_and_the_first_answers(house: Any) -> None:
    house.configure("policy: {mode: ask}\nbackends: {local: {wall: none}}\n")
    await house.open()
    assert (await house.hermes("-z", "when?"))[0] == 0
    one = await house.attach()
    await one.until("Nine o'clock.")
    two = await house.attach()
    await two.until("Nine o'clock.")
    house.model.script = [house.calls("sudo true"), house.says("It is gone.")]
    one.write("do it")
    for terminal in (one, two):
        await terminal.until("May this run?")
        await terminal.until("sudo true")
    assert "› do it" in two.shown
    two.write("once")
    for terminal in (one, two):
        await terminal.until("Allowed: once.")
        await terminal.until("It is gone.")
    assert (await one.leave(), await two.leave()) == (0, 0)
    assert (house.host.returncode) is None


async def test_an_answer_from_elsewhere_settles_it_here(house: Any) -> None:
    house.configure("policy: {mode: ask}\nbackends: {local: {wall: none}}\n")
    await house.open()
    one = await house.attach()
    house.model.script = [house.calls("sudo true"), house.says("I leave it.")]
    one.write("do it")
    await one.until("May this run?")
    status, out, _ = await house.hermes("approvals", "list", "--json")
    assert status == 0
    question = json.loads(out.splitlines()[0])["id"]
    assert (await house.hermes("approvals", "deny", question))[0] == 0
    await one.until("It is asked no longer")
    await one.until("I leave it.")
    assert await one.leave() == 0


async def test_a_turn_is_taken_up_in_its_middle_and_goes_on_without_anybody(house: Any) -> None:
    await house.open()
    heard, go = asyncio.Event(), asyncio.Event()

    async def slow(writer: asyncio.StreamWriter) -> None:
        writer.write(house.begun("The train leaves "))
        for _ in range(3):
            writer.write(house.piece("to Oslo "))
            await writer.drain()
        heard.set()
        await go.wait()
        writer.write(house.ends("at nine."))
        await writer.drain()

    house.model.script = [slow]
    asking = await house.start("-z", "when?")
    await asyncio.wait_for(heard.wait(), 40)
    one = await house.attach()
    await one.until("The train")
    one.process.kill()
    two = await house.attach()
    await two.until("The train")
    go.set()
    await two.until("at nine.")
    assert await two.leave() == 0
    out, _ = await asking.communicate()
    assert (asking.returncode, out) == (0, b"The train leaves to Oslo to Oslo to Oslo at nine.\n")


async def test_what_was_typed_meanwhile_is_heard(house: Any) -> None:
    await house.open()
    heard, go = asyncio.Event(), asyncio.Event()

    async def slow(writer: asyncio.StreamWriter) -> None:
        heard.set()
        await go.wait()
        writer.write(house.says("At nine."))
        await writer.drain()

    one = await house.attach()
    await one.until("session ")
    two = await house.attach()
    await two.until(one.shown)  # where nobody named one, it is the one in which somebody is
    assert await two.leave() == 0
    house.model.script = [slow, house.says("To Oslo.")]
    one.write("when?")
    await asyncio.wait_for(heard.wait(), 40)
    one.write("and where to?")
    await one.until("It is told with the next result")
    go.set()
    await one.until("At nine.")
    await one.until("To Oslo.")
    assert await one.leave() == 0
    assert house.asked()[-1] == "and where to?"


async def test_an_answer_that_comes_after_anothers_is_no_message(house: Any) -> None:
    house.configure("policy: {mode: ask}\nbackends: {local: {wall: none}}\n")
    await house.open()
    one = await house.attach()
    await one.until("session ")
    two = await house.attach()
    await two.until(one.shown)
    house.model.script = [house.calls("sudo true"), house.says("It is gone.")]
    one.write("do it")
    for terminal in (one, two):
        await terminal.until("May this run?")
    two.write("deny")
    await one.until("It is gone.")
    one.write("once")
    await one.until("answered elsewhere just before")
    one.write("once")
    await one.until("Nine o'clock.")
    assert house.asked().count("once") == 1, "what was told not to be sent was not, and what was written again was"
    assert (await one.leave(), await two.leave()) == (0, 0)


async def test_an_answer_that_comes_after_anothers_is_none_to_what_is_asked_next(house: Any) -> None:
    house.configure("policy: {mode: ask}\nbackends: {local: {wall: none}}\n")
    await house.open()
    one = await house.attach()
    await one.until("session ")
    two = await house.attach()
    await two.until(one.shown)
    house.model.script = [house.calls("sudo true"), house.calls("sudo false"), house.says("I leave it.")]
    one.write("do it")
    for terminal in (one, two):
        await terminal.until("sudo true")
        await terminal.until("May this run?")
    two.write("deny")
    await one.until("Refused.")
    one.write("once")
    for word in ("answered elsewhere just before", "May this run?\n  $ sudo false"):
        await one.until(word)
    one.write("deny")
    await one.until("I leave it.")
    assert "Allowed" not in one.shown
    assert (await one.leave(), await two.leave()) == (0, 0)


async def test_slash_commands_are_run_by_the_host(house: Any) -> None:
    await house.open()
    one = await house.attach()
    await one.until("session ")
    first = one.shown.split()[1]
    one.write("when?")
    await one.until("Nine o'clock.")
    one.write("/model")
    await one.until("Answering: m from custom.")
    one.write("/undo")
    await one.until("Really?")
    one.write("/undo --once")
    await one.until("Taken back")
    one.write("/nonsense")
    await one.until("There is no command /nonsense")
    one.write("/new")
    async with asyncio.timeout(30):
        while one.shown.count("session 2") < 3:
            await asyncio.sleep(0.02)
    assert one.shown.count(first) == 2, "it is another session now"
    two = await house.attach()
    await two.until("session ")
    assert first not in two.shown, "where it went is where somebody is"
    one.write("and where to?")
    await two.until("› and where to?")
    await two.until("Nine o'clock.")
    one.write("/quit")
    await asyncio.wait_for(one.process.wait(), 30)
    assert (await one.leave(), await two.leave()) == (0, 0)


async def test_without_a_host_it_says_what_to_do(house: Any) -> None:
    status, _, told = await house.hermes("attach")
    assert status == 2
    assert "hermes host run" in told
    assert "hermes -c" in told
