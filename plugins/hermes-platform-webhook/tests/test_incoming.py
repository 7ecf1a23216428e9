"""What comes in over HTTP: heard, known, refused, and written down before it is answered."""

import asyncio
import json
import time
from typing import Any
from urllib.parse import urlencode

import pytest
from attrs import evolve

from hermes_core.database import WRITE
from hermes_core.errors import StoreError
from hermes_core.testing import serve
from hermes_platform_webhook.config import Config
from hermes_platform_webhook.sealed import seal
from hermes_platform_webhook.signatures import sign
from hermes_platform_webhook.values import KINDS

# The fields that GitHub documents for its events, with values of our own.
REPOSITORY = {"id": 1, "name": "lamp", "full_name": "olga/lamp", "private": False, "owner": {"login": "olga", "id": 2}}
SENDER = {"login": "olga", "id": 2, "type": "User"}
BOTH: dict[str, Any] = {"repository": REPOSITORY, "sender": SENDER}
GITHUB: dict[str, Any] = {
    "push": {
        "ref": "refs/heads/main",
        "before": "0" * 40,
        "after": "1" * 40,
        "created": False,
        "deleted": False,
        "forced": False,
        "base_ref": None,
        "compare": "https://github.com/olga/lamp/compare/000000...111111",
        "commits": [
            {"id": "1" * 40, "message": "Light", "added": ["a"], "removed": [], "modified": [], "distinct": True}
        ],
        "head_commit": {"id": "1" * 40, "message": "Light"},
        "pusher": {"name": "olga", "email": "olga@example.org"},
        **BOTH,
    },
    "pull_request": {
        "action": "opened",
        "number": 3,
        "pull_request": {"id": 9, "title": "More", "draft": False},
        **BOTH,
    },
    "issues": {"action": "labeled", "issue": {"number": 4, "title": "Dark"}, "label": {"name": "bug"}, **BOTH},
    "issue_comment": {"action": "created", "issue": {"number": 4}, "comment": {"id": 5, "body": "Why?"}, **BOTH},
    "workflow_run": {"action": "completed", "workflow_run": {"id": 6, "conclusion": "failure"}, "workflow": {}, **BOTH},
    "release": {"action": "published", "release": {"tag_name": "v1", "prerelease": False}, **BOTH},
    "star": {"action": "created", "starred_at": "2026-11-27T20:00:00Z", **BOTH},
    "ping": {"zen": "Keep it lit.", "hook_id": 7, "hook": {"type": "Repository", "events": ["*"]}, **BOTH},
}


@pytest.mark.parametrize("form", [False, True], ids=["json", "form"])
@pytest.mark.parametrize("event", GITHUB)
async def test_events_of_github_are_accepted_in_both_of_its_forms(home: Any, event: str, form: bool) -> None:
    await home.subscribe(events=[event], template="{repository.full_name} {action}")
    body = json.dumps(GITHUB[event]).encode()
    headers = {"content-type": "application/json"}
    if form:
        body = urlencode({"payload": body.decode()}).encode()
        headers = {"content-type": "application/x-www-form-urlencoded"}
    assert await home.post(body, event=event, headers=headers) == (202, "accepted")
    (row,) = await home.log()
    assert (row.event, row.state, row.text.split()[0]) == (event, "waiting", "olga/lamp")


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
async def test_a_thousand_replays_come_to_nothing(home: Any, kind: Any) -> None:
    """Also with other names for the delivery, where the service does not sign its name."""
    await home.subscribe(kind=kind)
    body = b'{"id": "evt_1", "type": "a"}'
    headers = sign(kind, home.secret(kind), body, now=time.time(), delivery="d-1", event="push")
    assert (await home.raw(body, headers))[0] == 202
    unsigned = {"github": "x-github-delivery", "generic": "x-webhook-id"}.get(kind)
    answers = set()
    for number in range(1_000):
        again = {**headers, unsigned: f"other-{number}"} if unsigned and number % 2 else headers
        answers.add(await home.raw(body, again))
    assert answers == {(200, "known")}
    assert len(await home.log()) == 1


async def test_a_replay_after_its_time_is_refused_although_nothing_is_known_of_it(home: Any) -> None:
    await home.subscribe(kind="standard")
    old = sign("standard", home.secret("standard"), b"{}", now=time.time() - 400, delivery="d", event="")
    assert (await home.raw(b"{}", old))[0] == 401
    assert await home.log() == []


async def test_a_signature_of_time_and_body_is_none_of_a_body_alone(home: Any) -> None:
    await home.subscribe(kind="generic")
    headers = sign("generic", home.secret("generic"), b"{}", now=time.time() - 400, delivery="d")
    stamp = headers.pop("x-webhook-timestamp")
    assert (await home.raw(stamp.encode() + b".{}", headers))[0] == 400
    assert (await home.raw(b"{}", headers))[0] == 401
    assert await home.log() == []


async def test_what_a_service_sends_again_with_another_time_is_the_same(home: Any) -> None:
    for kind in ("stripe", "standard"):
        await home.subscribe(kind, kind=kind)
        payload = {"id": "evt_1", "type": "charge.succeeded"}
        first = await home.post(payload, to=kind, kind=kind, delivery="m-1")
        again = await home.post(payload, to=kind, kind=kind, delivery="m-1", at=time.time() + 60)
        assert (first[0], again) == (202, (200, "known"))


async def test_at_once_one_of_many_is_accepted(home: Any) -> None:
    await home.subscribe()
    answers = await asyncio.gather(*(home.post({"a": 1}) for _ in range(30)))
    assert sorted(answers) == [(200, "known")] * 29 + [(202, "accepted")]


async def test_what_comes_in_a_crowd_is_written_together_each_once(home: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    commits = 0
    transact = home.ctx.store.transact

    async def counted(work: Any, begin: Any = WRITE) -> Any:
        nonlocal commits
        commits += begin == WRITE
        await asyncio.sleep(0)  # the others come meanwhile
        return await transact(work, begin)

    await home.subscribe()
    await home.subscribe("other")
    monkeypatch.setattr(home.ctx.store, "transact", counted)
    posted = [(n, "ci" if n % 2 else "other") for n in range(100)]
    answers = await asyncio.gather(*(home.post({"n": n}, delivery=f"d-{n}", to=to) for n, to in posted))
    assert answers == [(202, "accepted")] * 100
    assert commits < 20
    again = [(n, "ci" if n % 2 else "other") for n in range(95, 105)]
    answers = await asyncio.gather(*(home.post({"n": n}, delivery=f"d-{n}", to=to) for n, to in again))
    assert answers == [(200, "known")] * 5 + [(202, "accepted")] * 5  # who was known holds up nobody else
    assert sorted((one.delivery, one.route) for one in await home.log()) == sorted(
        (f"d-{n}", to) for n, to in {*posted, *again}
    )


async def test_one_that_leaves_takes_nobody_with_it(home: Any) -> None:
    await home.subscribe()
    posts = [asyncio.create_task(home.post({"n": n}, delivery=f"d-{n}")) for n in range(20)]
    await asyncio.sleep(0)
    for one in posts[::2]:
        one.cancel()
    answers = await asyncio.gather(*posts, return_exceptions=True)
    assert answers[1::2] == [(202, "accepted")] * 10


async def test_what_was_judged_by_another_subscription_is_judged_again(
    home: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The secret is changed between the look at a signature and the commit: what was signed with the old is refused."""
    before = await home.subscribe()
    assert (await home.post({}))[0] == 202
    rows = home.ctx.state["rows"]
    accept = rows.accept

    async def slow(came: Any, heard: Any, most: int) -> Any:
        monkeypatch.setattr(rows, "accept", accept)
        await home.rows.subscribe(evolve(before, sealed=seal(home.ctx, "ci", "another secret")))
        return await accept(came, heard, most)

    monkeypatch.setattr(rows, "accept", slow)
    assert (await home.post({"a": 2}, delivery="d-2"))[0] == 401
    assert len(await home.log()) == 1


async def test_a_new_secret_holds_at_once(home: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    before = await home.subscribe()
    assert (await home.post({}))[0] == 202
    monkeypatch.setattr(home, "secret", lambda kind: "another secret")
    assert (await home.post({"a": 2}, delivery="d-2"))[0] == 401
    await home.rows.subscribe(evolve(before, sealed=seal(home.ctx, "ci", "another secret")))
    assert (await home.post({"a": 2}, delivery="d-2"))[0] == 202


async def test_only_what_was_subscribed_to_is_heard(home: Any) -> None:
    await home.subscribe(
        events=["issues.opened", "push"], where={"sender.login": "olga", "repository.private": "false"}
    )
    opened = {"action": "opened", **BOTH}
    assert await home.post(opened, event="issues", delivery="1") == (202, "accepted")
    assert await home.post({**opened, "action": "closed"}, event="issues", delivery="2") == (200, "ignored")
    assert await home.post(opened, event="star", delivery="3") == (200, "ignored")
    other = {**opened, "sender": {"login": "eve"}}
    assert await home.post(other, event="issues", delivery="4") == (200, "ignored")
    await home.subscribe()
    assert await home.post(GITHUB["ping"], event="ping", delivery="5") == (200, "pong")
    assert len(await home.log()) == 1


async def test_a_subscription_holds_at_once_and_so_does_its_end(home: Any) -> None:
    assert (await home.post({}))[0] == 404
    before = await home.subscribe()
    assert (await home.post({}))[0] == 202
    await home.rows.subscribe(evolve(before, sealed=seal(home.ctx, "ci", "another secret")))
    assert (await home.post({"a": 2}, delivery="d-2"))[0] == 401
    await home.rows.remove("ci")
    assert (await home.post({"a": 3}, delivery="d-3"))[0] == 404
    assert [one.state for one in await home.log()] == ["failed"], "what waited is not done"


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{", {}, 400),
        (b"7", {}, 400),
        (b"[" * 100_000, {}, 400),
        (b"\xff{}", {}, 400),
        (b"payload=1", {"content-type": "application/x-www-form-urlencoded"}, 400),
        (b"a=1", {"content-type": "application/x-www-form-urlencoded"}, 400),
        (b" " * 1_000_001, {}, 413),
        (b"{}", {"content-length": "99999999999999999999999999"}, 413),
        (b"{}", {"x-hub-signature-256": "sha1=1"}, 401),
        (b"{}", {"x-github-delivery": "x" * 201}, 401),
    ],
)
async def test_what_cannot_be_heard_is_answered_in_words(home: Any, body: bytes, headers: Any, status: int) -> None:
    await home.subscribe()
    answer = await home.post(body, headers=headers)
    assert answer[0] == status
    assert answer[1].endswith(".")
    assert await home.log() == []


async def test_no_signature_fits_a_header_that_is_there_twice(home: Any) -> None:
    await home.subscribe()
    signed = sign("github", home.secret("github"), b"{}", now=0, delivery="d", event="push")
    twice = [(name.encode(), value.encode()) for name, value in signed.items()] * 2
    answers: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"{}", "more_body": False}

    async def send(message: Any) -> None:
        answers.append(message)

    scope = {"method": "POST", "path": "/r/ci", "root_path": "/r", "headers": twice}
    await home.route.app(scope, receive, send)
    assert answers[0]["status"] == 401


async def test_other_methods_and_places_are_told(home: Any) -> None:
    assert (await serve(home.route, "GET", "/")).status == 200
    assert (await serve(home.route, "HEAD", "/")).body == b""
    assert (await serve(home.route, "GET", "/ci")).status == 405
    assert (await serve(home.route, "POST", "/ci", leaves=True)).status == 0
    for name in ("no", "no/such", "%00", "x" * 300):
        assert (await home.raw(b"{}", {}, name))[0] == 404


async def test_a_store_that_is_down_accepts_nothing(home: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The service comes again then: nothing was answered that is not written."""
    await home.subscribe()

    async def down(*_: Any) -> None:
        raise StoreError("the store is down")

    monkeypatch.setitem(home.ctx.state, "rows", home.rows)
    monkeypatch.setattr(home.rows, "accept", down)
    with pytest.raises(StoreError):
        await home.post({})


async def test_what_was_sealed_with_another_key_is_told_to_the_log_alone(home: Any, caplog: Any) -> None:
    before = await home.subscribe()
    await home.rows.subscribe(evolve(before, sealed=seal(home.ctx, "other", "a secret that both know")))
    status, said = await home.post({})
    assert (status, "log" in said, "WEBHOOK_KEY" in said) == (503, True, False)
    assert "WEBHOOK_KEY" in caplog.text


class TestAFlood:
    @pytest.fixture
    def config(self) -> Config:
        return Config(max_waiting=3)

    async def test_more_than_may_wait_is_told_to_come_again(self, home: Any) -> None:
        await home.subscribe()
        await home.subscribe("other")
        answers = [(await home.post({"a": n}, delivery=f"d-{n}"))[0] for n in range(5)]
        assert answers == [202, 202, 202, 503, 503]
        assert (await home.post({}, to="other"))[0] == 202
        await home.service.round()
        assert (await home.post({"a": 4}, delivery="d-4"))[0] == 202, "what was sent away was not kept as known"
