"""The web app, without a browser: a person's question is put to them, and answered by them alone."""

import asyncio
import json

import httpx2
import web_app

from hermes_core.embed import Hermes


async def test_a_person_answers_from_another_request(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    async with Hermes(provider="offline", home=tmp_path / "home") as web_app.hermes:
        way = httpx2.ASGITransport(app=web_app.app)
        async with httpx2.AsyncClient(transport=way, base_url="http://app", headers={"x-user": "owner"}) as http:
            chat = asyncio.create_task(http.post("/chat", content="run `rm -rf .git`"))
            while not (waits := await web_app.hermes.approvals.list(web_app.hermes.owner)):
                assert not chat.done()
                await asyncio.sleep(0.02)
            settled = await http.post(f"/answer/{waits[0].id}", content="no")
            assert settled.json() == {"settled": True}
            told = [block.split("\n") for block in (await chat).text.strip().split("\n\n")]
        assert [name for name, *_ in told if name != "event: Said"] == ["event: Asking", "event: Ended"]
        assert json.loads(told[0][1].removeprefix("data: "))["arguments"] == {"command": "rm -rf .git"}
