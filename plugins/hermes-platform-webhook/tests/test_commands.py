"""What a person types: subscriptions made, changed, tried and ended, in a whole kernel."""

import io
import json
import sys
from pathlib import Path

import pytest

from hermes_core.errors import HermesError, UnknownName, UserError
from hermes_core.testing import Bench
from hermes_platform_webhook.ordering import Ordering
from hermes_platform_webhook.rows import Rows
from hermes_platform_webhook.sealed import open_sealed


@pytest.fixture
def bench(hermes: Bench) -> Bench:
    """A kernel with the plugin, and a gateway that knows no chat."""
    hermes.tmp_plugin("hermes_platform_webhook")
    hermes.tmp_plugin("hermes_platform_gateway")
    hermes.tmp_plugin("hermes_provider_offline")
    hermes.configure({"platforms.webhook.url": "https://hermes.example.org/"})
    return hermes


def service(bench: Bench) -> Ordering:
    bench.runtime.loader.load_contributing("services")
    found = [one for _, one in bench.runtime.dispatch.contributions("register_services") if isinstance(one, Ordering)]
    return found[0]


async def test_a_subscription_is_made_changed_tried_and_ended(bench: Bench) -> None:
    run = bench.command
    assert await run("webhook list") == ""
    said = await run(
        "webhook subscribe", "ci", "--kind", "github", "--event", "issues.opened", "--where", "sender.login=olga",
        "--prompt", "Say it.", "--template", "{issue.title}", "--tools", "web, files",
    )  # fmt: skip
    address, shown = said.splitlines()
    assert address == "ci: https://hermes.example.org/platform/webhook/in/ci"
    ctx = service(bench).ctx
    rows = Rows(ctx.store)
    before = await rows.subscription("ci")
    assert before
    secret = open_sealed(ctx, "ci", before.sealed)
    assert shown == f"Its secret, shown this once: {secret}"
    assert (before.events, before.tools) == (["issues.opened"], ["web", "files"])

    assert "secret" not in await run("webhook subscribe", "ci", "--prompt", "Say more.", "--tools", "")
    now = await rows.subscription("ci")
    assert now
    assert (now.prompt, now.tools, now.sealed, now.events) == ("Say more.", [], before.sealed, before.events)
    assert secret not in await run("webhook list", "--json") + await run("webhook list")

    assert await run("webhook test", "ci", "--dry-run") == "(issue.title)\n"
    assert await run("webhook test", "ci") == "202 accepted\n"
    await service(bench).round()
    (row,) = map(json.loads, (await run("webhook log", "ci", "--json")).splitlines())
    assert (row["state"], row["event"], row["session"] != "") == ("done", "issues", True)
    assert "done" in await run("webhook log")

    assert "secret" in await run("webhook subscribe", "ci", "--new-secret")
    again = await rows.subscription("ci")
    assert again
    assert again.sealed != before.sealed
    await run("webhook remove", "ci")
    assert await rows.subscribed() == []


async def test_a_payload_of_ones_own_is_tried(bench: Bench, tmp_path: Path) -> None:
    for kind in ("stripe", "standard", "generic", "gitlab"):
        secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "stdin", io.StringIO(f"{secret}\n"))
            said = await bench.command(
                "webhook subscribe", kind, "--kind", kind, "--secret-stdin", "--prompt", "x", "--event", "paid"
            )
        assert secret not in said, "it is known to who gave it"
        payload = tmp_path / "payload.json"
        payload.write_text('{"id": "evt_1", "type": "paid", "amount": 7}')
        words = ["--event", "paid", "--payload", str(payload)]
        assert await bench.command("webhook test", kind, *words) == "202 accepted\n"
        assert '"amount": 7' in await bench.command("webhook test", kind, "--dry-run", "--payload", str(payload))
    payload.write_text("no JSON")
    with pytest.raises(UserError):
        await bench.command("webhook test", "generic", "--payload", str(tmp_path / "none"))
    with pytest.raises(UserError):
        await bench.command("webhook test", "generic", "--payload", str(payload))
    with pytest.raises(UserError):
        await bench.command("webhook test", "generic", "--dry-run", "--payload", str(payload))


async def test_what_failed_is_tried_again(bench: Bench) -> None:
    await bench.command("webhook subscribe", "ci", "--kind", "github", "--prompt", "x")
    await bench.command("webhook test", "ci")
    rows = Rows(service(bench).ctx.store)
    (row,) = await rows.log()
    await rows.settle(row.id, "failed", note="It rained.")
    assert "It rained." in await bench.command("webhook log", "--failed")
    await bench.command("webhook again", str(row.id))
    with pytest.raises(UnknownName):
        await bench.command("webhook again", str(row.id))
    assert [one.state for one in await rows.log()] == ["waiting"]


@pytest.mark.parametrize(
    "words",
    [
        ["Bad", "--prompt", "x"],
        ["ci"],
        ["ci", "--direct"],
        ["ci", "--prompt", "x", "--ask"],
        ["ci", "--prompt", "x", "--deliver", "telegram"],
        ["ci", "--prompt", "x", "--folder", "here"],
        ["ci", "--prompt", "x", "--person", "nobody"],
        ["ci", "--prompt", "x", "--where", "nothing"],
        ["ci", "--prompt", "x", "--where", "a b=c"],
    ],
)
async def test_what_could_never_be_done_is_refused(bench: Bench, words: list[str]) -> None:
    with pytest.raises(HermesError):
        await bench.command("webhook subscribe", *words)
    assert await Rows(service(bench).ctx.store).subscribed() == []
    for name in ("webhook remove", "webhook test", "webhook log"):
        with pytest.raises(UnknownName):
            await bench.command(name, "ci")


async def test_a_secret_that_is_none_is_refused(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("short\n"))
    with pytest.raises(UserError):
        await bench.command("webhook subscribe", "ci", "--secret-stdin", "--prompt", "x")
