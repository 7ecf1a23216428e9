"""A person's messages to phones, mailboxes and programs, up to a real server; and what other plugins tell."""

import email
import email.policy
import json
from collections.abc import Sequence
from typing import Any

import pytest
import sqlalchemy as sa
from standardwebhooks.webhooks import Webhook

from hermes_core.errors import UnknownName, UserError
from hermes_core.kinds import Service
from hermes_core.testing import Call, Fail
from hermes_core.types import Blob, Message, Principal, Question, Text, ToolResult, TurnOrder, Verdict
from hermes_tool_events.rows import told as told_rows
from hermes_tool_kit.telling import Announces, Happened

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYqr"
TOKEN = {"secret": "env:EVENTS_TOKEN", "private": True}


def said(text: str, *more: Any) -> Message:
    return Message(role="assistant", parts=(Text(text=text), *more))


@pytest.fixture
def post(house: Any, mailbox: Any, listener: Any) -> Any:
    """``post(provider)``: a home with a phone, a mailbox and a program, and a gateway's mailbox before them."""

    def make(provider: Any, *beside: Any) -> Any:
        targets = {
            "phone": {"kind": "ntfy", "to": listener.url, "mine": True, "events": ["job.*"], **TOKEN},
            "me": {"kind": "email", "to": "me@example.org", "events": ["job.*"]},
            "ops": {"to": listener.url, "secret": "env:EVENTS_SECRET_OPS", "private": True, "events": ["job.*"]},
        }
        mail = {"host": "127.0.0.1", "port": mailbox.server.port, "security": "none", "sender": "hermes@example.org"}
        return house(provider, targets, mail=mail, beside=["hermes_platform_gateway", "hermes_tool_message", *beside])

    return make


async def test_a_message_goes_to_a_phone_a_mailbox_and_a_program(
    post: Any, scripted: Any, listener: Any, mailbox: Any
) -> None:
    made = post(scripted())
    for target in ("phone", "email:me", "ops"):
        await made.bench.command("send", "-t", target, "-s", "Grüße", "It *works*.")
    await made.service.round()
    (ntfy, body), (hook, posted) = sorted(listener.heard, key=lambda one: "webhook-id" in one[0])
    assert (ntfy["title"], ntfy["markdown"], ntfy["authorization"]) == (
        "=?UTF-8?B?R3LDvMOfZQ==?=",
        "yes",
        "Bearer tk_1234567890",
    )
    assert body.decode() == "It *works*."
    told = Webhook(SECRET).verify(posted, hook)
    assert (told["type"], told["data"]["title"], told["data"]["text"]) == ("message", "Grüße", "It *works*.")
    (envelope,) = mailbox.mails
    mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
    assert (envelope.rcpt_tos, mail["Subject"], mail.get_content().strip()) == (
        ["me@example.org"],
        "Grüße",
        "It *works*.",
    )


async def test_one_key_is_one_message_over_retries(post: Any, scripted: Any, listener: Any) -> None:
    made = post(scripted())
    listener.status = 503
    for _ in range(2):
        await made.bench.command("send", "-t", "phone", "--key", "build-7", "Done.")
    await made.service.round()
    assert [(one.name, one.state, one.tries) for one in await made.rows.log()] == [("message", "waiting", 1)]
    listener.status = 200
    await made.service.ctx.store.transact(lambda tx: tx.execute(sa.update(told_rows).values(due=0)))
    await made.service.round()
    await made.service.round()
    assert [body for _, body in listener.heard] == [b"Done."]


@pytest.mark.parametrize("subject", ["Hi\nBcc: all@example.org", "Hi\r\nX-Evil: 1", "\x00Hi\x0bthere"])
async def test_no_header_of_a_mail_can_be_made_by_words(
    post: Any, scripted: Any, mailbox: Any, listener: Any, subject: str
) -> None:
    made = post(scripted())
    for target in ("me", "phone"):
        await made.bench.command("send", "-t", target, "-s", subject, "Body")
    await made.service.round()
    (envelope,) = mailbox.mails
    mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
    assert envelope.rcpt_tos == ["me@example.org"]
    assert {"bcc", "x-evil"}.isdisjoint(name.lower() for name in mail)
    ((headers, _),) = listener.heard
    assert {"bcc", "x-evil"}.isdisjoint(headers)


async def test_a_model_sends_to_what_is_mine_without_asking_and_to_others_with_a_yes(
    post: Any, scripted: Any, listener: Any, mailbox: Any
) -> None:
    provider = scripted()
    made = post(provider)
    asked: list[str] = []

    async def ask(question: Question) -> Verdict:
        asked.append(question.subject)
        return Verdict(outcome="allow", choice="once", by="me")

    provider.add(
        Call("message", {"action": "targets"}),
        Call("message", {"target": "phone", "text": "To me."}),
        Call("message", {"target": "me", "text": "To a mailbox."}),
        "Done.",
    )
    async for _ in made.bench.runtime.turns.run("Go.", origin="telegram", ask=ask):
        pass
    results = [
        part.parts[0].text
        for message in provider.requests[-1].messages
        for part in message.parts
        if isinstance(part, ToolResult)
    ]
    assert "ntfy:phone  phone  [dm]" in results[0]
    assert len(asked) == 1
    assert "To a mailbox." in asked[0]
    await made.service.round()
    assert [body for _, body in listener.heard] == [b"To me."]
    assert len(mailbox.mails) == 1


async def test_targets_are_the_owners_and_a_chat_of_that_name_takes_nothing(
    post: Any, scripted: Any, listener: Any
) -> None:
    made = post(scripted())
    made.bench.runtime.loader.load_contributing("mailboxes")
    ((_, messages),) = made.bench.runtime.dispatch.contributions("register_mailboxes")
    with pytest.raises(UnknownName):
        await messages.send(Principal(person="anna"), "phone", said("Boo."))
    assert [one.name for one in await messages.targets(Principal(person="anna"))] == []
    with pytest.raises(UserError, match="no files"):
        await messages.send(Principal(), "phone", said("A file.", Blob(media_type="image/png", data=b"1")))
    with pytest.raises(UnknownName, match="phone"):
        await messages.send(Principal(), "fone", said("Boo."))
    with pytest.raises(UserError, match="no home"):
        await messages.send(Principal(), "all", said("Boo."))
    question = Question(id="q", kind="approval", subject="$ rm -r build", risk="deletes")
    await messages.ask(Principal(), "phone", question)
    await messages.ask(Principal(), "phone", question)
    await made.service.round()
    ((headers, body),) = listener.heard
    assert headers["title"] == "A question waits"
    assert "$ rm -r build" in body.decode()


async def test_the_end_of_a_turn_is_delivered_in_the_commit_that_ends_it(
    post: Any, scripted: Any, listener: Any
) -> None:
    made = post(scripted("It **rains**."))
    turns = made.bench.context("hermes_tool_watch").turns
    async for _ in turns.run("Weather?", order=TurnOrder(deliver="phone")):
        pass
    await made.service.round()
    assert [body for _, body in listener.heard] == [b"It **rains**."]


class Weather(Service, Announces):
    """A service of somebody else's, that says what happened."""

    name = "weather"

    def __init__(self) -> None:
        self.rows: list[Happened] = []

    async def run(self) -> None:
        """Nothing."""

    async def happened(self, since: float, most: int) -> Sequence[Happened]:
        found = [one for one in self.rows if one.when >= since]
        return sorted(found, key=lambda one: one.when)[:most]


def storm(number: int, when: float, **more: Any) -> Happened:
    known: dict[str, Any] = {"name": "job.failed", "about": f"run-{number}", "title": f"The job {number} failed"}
    return Happened(when=when, person="owner", data={"job": str(number)}, **known, **more)


async def test_what_a_service_of_another_plugin_says_is_told_once_and_signed(
    post: Any, scripted: Any, listener: Any, mailbox: Any
) -> None:
    weather = Weather()
    made = post(scripted(), weather)
    now = await made.rows.now()
    weather.rows = [storm(0, now - 1000)]
    await made.service.round()
    assert listener.heard == [], "what was before anybody wanted to be told is not told"
    weather.rows += [storm(1, now + 0.001, text="The disk is full.")]
    for number in range(3):
        await made.service.ask(1e9 + number * 100)
        await made.service.round()
    ((ntfy, words),) = [one for one in listener.heard if "title" in one[0]]
    ((hook, body),) = [one for one in listener.heard if "webhook-id" in one[0]]
    assert (ntfy["title"], b"disk" in words) == ("The job 1 failed", False)
    data = Webhook(SECRET).verify(body, hook)
    assert (data["type"], data["data"]["job"], data["data"]["origin"]) == ("job.failed", "1", "weather")
    assert len(mailbox.mails) == 1
    assert json.loads(body)["timestamp"].endswith("Z")


async def test_a_job_that_failed_is_told_by_a_signed_webhook(post: Any, scripted: Any, listener: Any) -> None:
    made = post(scripted(Fail("no")), "hermes_tool_cron")
    await made.service.ask(1e9)  # from now on
    await made.bench.command("cron create", "every 1h", "How cold is it?", "--name", "cold")
    await made.bench.command("cron run", "cold", "--wait")
    await made.service.ask(1e9 + 100)
    await made.service.round()
    ((hook, body),) = [one for one in listener.heard if "webhook-id" in one[0]]
    told = Webhook(SECRET).verify(body, hook)
    assert (told["type"], told["data"]["job"], told["data"]["title"]) == (
        "job.failed",
        "cold",
        "The job cold failed",
    )
    assert "no" not in told["data"], "why it failed is told where a target wants the text"
