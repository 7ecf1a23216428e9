"""What doctor says about the bot."""

import pytest
from telegram_service import TOKEN, Fault, refused

from hermes_core.errors import HermesError, UserError
from hermes_core.plugins.manifest import read_manifest
from hermes_core.testing import plugin_context
from hermes_core.testing.contract_base import manifest_path
from hermes_platform_telegram import register_checks, register_setup
from hermes_platform_telegram.config import Config


@pytest.fixture
def findings(service, tmp_path):
    async def find(token=TOKEN, **settings):
        manifest = read_manifest(manifest_path("hermes_platform_telegram"))
        config = Config(base_url=service.url, **settings)
        context = plugin_context(manifest, tmp_path / "home", config=config, secrets={"TELEGRAM_BOT_TOKEN": token})
        (check,) = register_checks(context)
        return [f"{f.level}: {f.text} {f.fix}".strip() for f in await check.run()]

    return find


async def test_a_bot_that_works(findings, snapshot):
    assert await findings() == snapshot


async def test_a_bot_that_hears_all_in_groups(findings, service):
    service.me["can_read_all_group_messages"] = True
    assert await findings() == ["ok: Telegram knows the bot as @hermes_test_bot."]


@pytest.mark.parametrize("token", ["", "nonsense", "5:AAwrong_token_000"])
async def test_a_token_that_is_none(findings, snapshot, token):
    assert await findings(token) == snapshot


async def test_a_webhook_that_telegram_cannot_reach(findings, service, snapshot):
    answer = b'{"ok":true,"result":{"url":"https://x.example/","last_error_message":"Connection refused"}}'
    service.script("getWebhookInfo", Fault(body=answer))
    assert await findings() == snapshot


async def test_a_service_that_is_away_or_another(findings, service, snapshot):
    service.script("getMe", refused(500, "Internal Server Error"), Fault(body=b'{"ok":true,"result":[]}'))
    found = [await findings(), await findings()]
    assert [[f.replace(service.url, "ADDRESS") for f in each] for each in found] == snapshot


async def test_a_token_is_checked_before_it_is_kept(service, tmp_path):
    manifest = read_manifest(manifest_path("hermes_platform_telegram"))
    context = plugin_context(manifest, tmp_path / "home", config=Config(base_url=service.url))
    (step,) = register_setup(context)
    (field,) = step.fields
    assert (field.check(TOKEN), bool(field.check("hello")), bool(field.check("5:short"))) == ("", True, True)
    assert await step.test({"token": f" {TOKEN} "}) == "Telegram knows the bot as @hermes_test_bot."
    with pytest.raises(UserError, match="does not know the bot's token"):
        await step.test({"token": "5:AAwrong_token_000"})
    service.script("getMe", Fault(body=b'{"ok":true,"result":[]}'))
    with pytest.raises(UserError, match="no Bot API"):
        await step.test({"token": TOKEN})
    service.script("getMe", refused(500, "Internal Server Error"))
    with pytest.raises(HermesError, match="500"):
        await step.test({"token": TOKEN})
