"""Clients that name no session, and send the whole conversation with each message."""

from collections.abc import Sequence
from typing import Any

from hermes_core.types import Principal
from hermes_platform_api.heads import Heads

ALICE = "alices-key-0123456789"


def body(*said: str, system: str = "") -> dict[str, Any]:
    roles = ("user", "assistant")
    messages = [{"role": roles[n % 2], "content": text} for n, text in enumerate(said)]
    return {"model": "hermes", "messages": [*([{"role": "system", "content": system}] if system else []), *messages]}


async def ask(http: Any, *said: str, **more: Any) -> str:
    answer = await http.post("/v1/chat/completions", json=body(*said, **more))
    assert answer.status_code == 200, answer.text
    return str(answer.headers["x-hermes-session-id"])


async def texts(http: Any, session: str) -> Sequence[str]:
    found = (await http.get(f"/api/sessions/{session}/messages")).json()["data"]
    return [message["content"][0]["text"] for message in found]


async def test_a_client_that_sends_its_history_goes_on_in_one_session(serve: Any, scripted: Any) -> None:
    model = scripted("One.", "Two.", "Three.")
    async with serve(model) as server, server.http() as http:
        first = await ask(http, "a")
        assert await ask(http, "a", "One. ", "b") == first  # clients trim, or add
        assert await ask(http, "a", "One.", "b", "Two.", "c") == first
        assert await texts(http, first) == ["a", "One.", "b", "Two.", "c", "Three."]
    assert [r.messages[0] for r in model.requests[1:]] == [model.requests[0].messages[0]] * 2


async def test_it_goes_on_there_after_a_restart(serve: Any, scripted: Any) -> None:
    async with serve(scripted("One.", "Two.")) as server:
        async with server.http() as http:
            first = await ask(http, "a")
        async with server.again() as again, again.http() as http:
            assert await ask(http, "a", "One.", "b") == first


async def test_a_history_that_nobody_here_said_begins_a_session(serve: Any, scripted: Any) -> None:
    model = scripted("Blue.")
    async with serve(model) as server, server.http() as http:
        session = await ask(http, "I like blue.", "Noted.", "What do I like?")
        assert await texts(http, session) == ["I like blue.", "Noted.", "What do I like?", "Blue."]
    assert [m.role for m in model.requests[0].messages] == ["system", "user", "assistant", "user"]


async def test_two_who_go_on_from_one_point_do_not_mix(serve: Any, scripted: Any) -> None:
    async with serve(scripted("One.", "Left.", "Right.")) as server, server.http() as http:
        first = await ask(http, "a")
        left, right = await ask(http, "a", "One.", "left"), await ask(http, "a", "One.", "right")
        assert left == first != right
        assert await texts(http, right) == ["a", "One.", "right", "Right."]


async def test_a_session_that_went_on_by_its_id_is_not_found_by_its_old_end(serve: Any, scripted: Any) -> None:
    async with serve(scripted("One.", "Aside.", "Two.")) as server, server.http() as http:
        first = await ask(http, "a")
        await http.post(f"/api/sessions/{first}/chat", json={"input": "aside"})
        assert await ask(http, "a", "One.", "b") != first


async def test_a_session_that_is_gone_is_begun_anew(serve: Any, scripted: Any) -> None:
    async with serve(scripted("One.", "Two.")) as server, server.http() as http:
        first = await ask(http, "a")
        await http.delete(f"/api/sessions/{first}")
        assert await ask(http, "a", "One.", "b") != first


async def test_one_persons_history_never_leads_into_anothers_session(serve: Any, scripted: Any) -> None:
    async with serve(scripted("One.", "Two.")) as server, server.http(ALICE) as hers, server.http() as mine:
        first = await ask(hers, "a")
        second = await ask(mine, "a", "One.", "b")
        assert first != second
        assert (await mine.get(f"/api/sessions/{first}/messages")).status_code == 404
        assert [row["id"] for row in (await mine.get("/api/sessions")).json()["data"]] == [second]


async def test_who_is_told_something_else_is_in_another_conversation(serve: Any, scripted: Any) -> None:
    async with serve(scripted("Arr.", "Arr again.", "Oui.")) as server, server.http() as http:
        first = await ask(http, "a", system="Talk like a pirate.")
        assert await ask(http, "a", "Arr.", "b", system="Talk like a pirate.") == first
        assert await ask(http, "a", "Arr.", "b", system="Talk French.") != first


async def test_the_oldest_heads_are_forgotten(serve: Any, scripted: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("hermes_platform_api.heads._DOCUMENTS", 1)
    monkeypatch.setattr("hermes_platform_api.heads._MOST", 2)
    async with serve(scripted()) as server:
        heads, owner = Heads(server.ctx.documents, server.ctx.sessions), Principal()
        session = (await server.ctx.sessions.create(owner)).id
        for number in range(3):
            await heads.put(owner, session, [f"{number:08x}"])
        assert [await heads.take(owner, f"{number:08x}") for number in range(3)] == ["", session, session]
        assert await heads.take(owner, f"{2:08x}") == ""
