"""A host that no rule opens is a question; equal questions are one; what is not a yes is a no."""

import asyncio

from hermes_backend_wall.proxy.bounds import Bounds
from hermes_backend_wall.proxy.questions import Crossing

from .conftest import Door, Server, echo, hello


async def test_the_connection_waits_for_a_yes(door: Door) -> None:
    asked: list[Crossing] = []
    answer = asyncio.Event()

    async def ask(crossing: Crossing) -> bool:
        asked.append(crossing)
        await answer.wait()
        return True

    async with Server(echo) as server:
        await door.open(ask=ask)
        clients = [await door.connect() for _ in range(3)]
        waiting = [asyncio.create_task(c.ask_tunnel("one.localhost", server.port)) for c in clients]
        while not asked:
            await asyncio.sleep(0)
        assert door.lookups == []
        answer.set()
        # A yes opens a name; into the person's own machine it does not lead.
        assert await asyncio.gather(*waiting) == [403, 403, 403]
        assert asked == [Crossing("one.localhost", server.port, "https")]
    assert {p.why for p in door.passages if p.allowed} == {"asked"}


async def test_without_anybody_it_is_no_and_says_what_would_allow_it(door: Door) -> None:
    await door.open(mend="A person may open it with `hermes config set …`.")
    said = await door.said(b"GET http://new.example/ HTTP/1.1\r\nHost: new.example\r\n\r\n")
    head, _, body = said.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 403 new.example (port 80) is closed: nobody can be asked.")
    assert body.count(b"\n") == 1
    assert b"`hermes config set ?`" in body
    assert [(p.host, p.allowed) for p in door.passages] == [("new.example", False)]


async def test_what_is_not_a_yes_is_a_no(door: Door) -> None:
    async def no(_: Crossing) -> bool:
        return False

    async def fails(_: Crossing) -> bool:
        raise RuntimeError("a secret")

    async def never(_: Crossing) -> bool:
        await asyncio.sleep(3_600)
        return True

    async def perhaps(_: Crossing) -> bool:
        return "no"  # type: ignore[return-value]

    for ask, why in [(no, "not allowed"), (fails, "(RuntimeError)"), (never, "nobody answered"), (perhaps, "allowed")]:
        await door.open(ask=ask, bounds=Bounds(ask_seconds=0.2))
        client = await door.connect()
        assert await client.ask_tunnel("new.example", 443) == 403
        assert why in door.last.why


async def test_a_flood_of_questions_is_not_put(door: Door) -> None:
    asked = []

    async def never(crossing: Crossing) -> bool:
        asked.append(crossing)
        await asyncio.sleep(3_600)
        return True

    await door.open(ask=never, bounds=Bounds(questions=2, ask_seconds=30))
    clients = [await door.connect() for _ in range(3)]
    waiting = [asyncio.create_task(c.ask_tunnel(f"{n}.example", 443)) for n, c in enumerate(clients)]
    done, pending = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    assert [task.result() for task in done] == [403]
    assert "too many questions" in door.last.why
    await door.close()
    await asyncio.gather(*pending, return_exceptions=True)
    assert len(asked) == 2


async def test_only_who_knows_the_token_is_served(door: Door) -> None:
    async with Server(echo) as server:
        await door.open(f"one.localhost:{server.port}", token="right")
        for login, status in [("", 407), ("Basic aGVybWVzOndyb25n", 407), ("Bearer right", 407), ("Basic !", 407)]:
            headers = [f"Proxy-Authorization: {login}"] if login else []
            client = await door.connect()
            assert await client.ask_tunnel("one.localhost", server.port, *headers) == status
        assert door.lookups == []
        client = await door.connect()
        header = "Proxy-Authorization: Basic aGVybWVzOnJpZ2h0"  # hermes:right
        assert await client.ask_tunnel("one.localhost", server.port, header) == 200
        await client.send(hello("one.localhost"))
        assert await client.reader.read(10)


async def test_it_says_what_it_needs_to_know(door: Door) -> None:
    await door.open(token="right")
    said = await door.said(b"CONNECT one.localhost:443 HTTP/1.0\r\n\r\n")
    assert b"Proxy-Authenticate: Basic " in said
    assert b"right" not in said
